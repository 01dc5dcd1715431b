internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import Push
internal import WireFormat

/// The commands for notifications that apps' own servers have scheduled.
struct NotificationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notifications",
        abstract: "List the notifications that apps' own servers have scheduled, and cancel one.",
        subcommands: [NotificationsScheduledCommand.self, NotificationsCancelCommand.self]
    )
}

/// Lists the notifications that wait for their time.
struct NotificationsScheduledCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scheduled",
        abstract: "List the notifications that wait for their time, the next one first.",
        discussion: """
            RECIPIENTS are the accounts that it was requested for, or the members of its topic at that time. What it says is sealed, and \
            not shown.

              heliographctl notifications scheduled
              heliographctl notifications scheduled --app demo --json | jq -r '.[].id'
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: "Only those of this app.")
    var app: String?

    @OptionGroup var limit: LimitOptions

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    func run() async throws {
        let found = try await database.withDatabase { client in
            try await limit.read { try await AppNotificationRepository(client).listScheduled(of: app, limit: $0) }
        }
        try Console.current.show(ScheduledReport(notifications: found, now: Date()), asJSON: json)
    }
}

/// Cancels a notification that is not due yet.
struct NotificationsCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel a notification that is not due yet, as its app can. Recorded in the audit log.",
        discussion: """
            Its content and recipients are removed. `credentials revoke` cancels all that were made with a key.

              heliographctl notifications cancel 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
            """
    )

    @OptionGroup var options: OperatorOptions

    @Argument(help: "Its id, as `notifications scheduled` prints it.", transform: UUID.argument)
    var id: UUID

    func run() async throws {
        try await options.recording(.notificationCancelled, object: id) { transaction in
            guard try await AppNotificationRepository(transaction).cancel(id: id, of: nil) else {
                Console.current.note("No notification \(id.wireString) waits for its time: it is unknown, cancelled, or on its way.")
                throw ExitCode.nothingFound
            }
        }
        Console.current.result("cancelled \(id.wireString)")
    }
}

/// Scheduled notifications as text or JSON.
struct ScheduledReport: Report {
    let notifications: [AppNotification]
    let now: Date

    func encode(to encoder: any Encoder) throws {
        try notifications.map { notification -> JSONRecord in
            [
                "id": notification.id.wireString, "app": notification.app, "kind": notification.kind,
                "recipients": notification.accepted, "created_at": notification.createdAt, "due_at": notification.notBefore,
                "expires_at": notification.expiresAt,
            ]
        }.encode(to: encoder)
    }

    func lines(_ style: TextStyle) -> [PrintableText] {
        guard !notifications.isEmpty else { return ["No notification is scheduled."] }
        var table = Table(["ID", "APP", "KIND", .right("RECIPIENTS"), "DUE", .right("IN"), "EXPIRES"])
        for notification in notifications {
            table.add([
                .init(notification.id.wireString), .init(notification.app), .init(notification.kind), .count(notification.accepted),
                .init(HumanUnits.timestamp(notification.notBefore)),
                .init(HumanUnits.age(.seconds(notification.notBefore.timeIntervalSince(now)))),
                .init(HumanUnits.timestamp(notification.expiresAt)),
            ])
        }
        return table.lines(style)
    }
}
