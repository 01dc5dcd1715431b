extension FaultRow {
    /// All rows, in the order of the matrix.
    public static let all: [FaultRow] = [
        killedMidHandler, killedUnderOverload, killedAfterCommit, killedBeforeDispatch, frozen, redisKilled, redisRolledBack,
        redisWiped, promoted, badNetwork, stalled, outOfMemory, postgresDown, relayKilled, manyRelays, poison, publishedTwice,
        longHandler, drained, backlog, zombieGroup, scriptsForgotten,
        notifierKilled, keysRotated,
    ]

    /// Returns the row with a name such as `F1`, in any case; nil when there is none.
    public static func named(_ id: String) -> FaultRow? {
        all.first { $0.id.uppercased() == id.uppercased() }
    }
}
