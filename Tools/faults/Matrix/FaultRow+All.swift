extension FaultRow {
    /// Every row, in the order of the matrix.
    public static let all: [FaultRow] = [
        killedMidHandler, killedUnderOverload, killedAfterCommit, killedBeforeDispatch, frozen, redisKilled, redisRolledBack,
        redisWiped, promoted, badNetwork, stalled, outOfMemory, postgresDown, relayKilled, manyRelays, poison, publishedTwice,
        longHandler, drained, backlog, zombieGroup, scriptsForgotten,
    ]

    /// The row of that name, such as `F1`; nil when there is none.
    public static func named(_ id: String) -> FaultRow? {
        all.first { $0.id.uppercased() == id.uppercased() }
    }
}
