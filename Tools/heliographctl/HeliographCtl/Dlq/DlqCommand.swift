internal import ArgumentParser

/// The commands for dead letters.
struct DlqCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dlq",
        abstract: "Show dead letters, redrive them, or drop them.",
        discussion: """
            An entry becomes a dead letter of its group when its handler has failed too often (failures), when consumers \
            crashed while handling it (crashes), or when it cannot be decoded (unreadable). Its ID is that of the message. It \
            stays in the database until you decide, for DEAD_LETTER_DAYS at most, whatever happens to Redis:

              heliographctl dlq list
              heliographctl dlq show notification.requested 019aa3f0-5c1e-7b2a-9d6e-2f4b8c0d1e3f
              heliographctl dlq redrive notification.requested --all --reason failures --rate 10/s
              heliographctl dlq drop ekyc.requested 019aa3f0-5c1e-7b2a-9d6e-2f4b8c0d1e3f
            """,
        subcommands: [DlqListCommand.self, DlqShowCommand.self, DlqRedriveCommand.self, DlqDropCommand.self]
    )
}
