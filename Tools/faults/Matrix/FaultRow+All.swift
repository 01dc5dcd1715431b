extension FaultRow {
    /// All rows, in the order of the matrix.
    public static let all: [FaultRow] = [
        killedMidHandler, killedUnderOverload, killedAfterCommit, killedBeforeDispatch, frozen, redisKilled, redisRolledBack,
        redisWiped, promoted, badNetwork, stalled, outOfMemory, postgresDown, relayKilled, manyRelays, poison, publishedTwice,
        longHandler, drained, backlog, zombieGroup, scriptsForgotten,
        notifierKilled, keysRotated,
    ]

    /// The rows of a Redis Cluster: its own faults, and those of the processes and of Postgres.
    public static let cluster: [FaultRow] =
        clusterFaults
        + [
            killedMidHandler, killedUnderOverload, killedAfterCommit, killedBeforeDispatch, frozen, postgresDown, manyRelays, poison,
            publishedTwice, longHandler, drained, backlog,
        ].compactMap(\.onCluster)

    /// The faults of a cluster itself.
    public static let clusterFaults: [FaultRow] = [slotsMoved, mastersReplaced, masterKilled]
}
