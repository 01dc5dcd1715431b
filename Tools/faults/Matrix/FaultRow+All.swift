extension FaultRow {
    /// All rows, in the order of the matrix.
    public static let all: [FaultRow] = [
        killedMidHandler, killedUnderOverload, killedAfterCommit, killedBeforeDispatch, frozen, frozenInTransaction, redisKilled,
        redisRolledBack, redisWiped, promoted, badNetwork, stalled, outOfMemory, postgresDown, postgresSilent, postgresAway,
        postgresSwitchedOver,
        postgresSwitchedBehindProxy, poolerHung, schemaMissing, relayKilled, manyRelays, poison, publishedTwice, longHandler, drained,
        backlog, zombieGroup, scriptsForgotten, deadLettersWiped,
        notifierKilled, peersSilent, keysRotated,
    ]

    /// The rows of a cluster: its own faults, and all others.
    ///
    /// - Parameter isValkey: Whether the servers can move a slot in one step.
    public static func cluster(isValkey: Bool) -> [FaultRow] {
        clusterFaults(isValkey: isValkey) + all.map { $0.id == promoted.id ? promotedByForce : $0.onCluster }
    }

    /// The faults of a cluster itself.
    public static func clusterFaults(isValkey: Bool) -> [FaultRow] {
        [slotsMoved] + (isValkey ? [slotsMovedInOneStep] : []) + [mastersReplaced, masterKilled, masterFrozen, killedWhileSlotsMove]
    }
}
