internal import ArgumentParser

/// The commands for dead letters.
struct DlqCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dlq",
        abstract: "Show dead letters, redrive them, or drop them.",
        discussion: """
            An entry becomes a dead letter of its group when its handler has failed too often (failures), when consumers \
            crashed while handling it (crashes), or when it cannot be decoded (unreadable). It stays until you decide:

              heliographctl dlq list
              heliographctl dlq show notification.requested 1763731805123-0
              heliographctl dlq redrive notification.requested --all --reason failures --rate 10/s
              heliographctl dlq drop ekyc.requested 1763731805123-0
            """,
        subcommands: [DlqListCommand.self, DlqShowCommand.self, DlqRedriveCommand.self, DlqDropCommand.self]
    )
}
