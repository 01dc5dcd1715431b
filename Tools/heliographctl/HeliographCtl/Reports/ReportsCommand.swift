internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import HeliographCrypto
internal import PostgresClient
internal import ServiceDefaults
internal import WireFormat

/// The commands for users' reports about users, topics and messages, the rows of `reports`.
struct ReportsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reports",
        abstract: "List, read and close what users report.",
        subcommands: [ReportsListCommand.self, ReportsShowCommand.self, ReportsCloseCommand.self]
    )
}

extension AbuseReport {
    /// The report as JSON, with the text if it was opened.
    func json(text: String? = nil) -> JSONRecord {
        [
            "id": id.wireString, "reporter_id": reporterID?.wireString, "subject_type": subjectType, "subject_id": subjectID,
            "sender_id": senderID?.wireString, "reason": reason.rawValue, "text": text, "state": state.rawValue,
            "created_at": createdAt, "closed_at": closedAt,
        ]
    }

    /// The reporter's text; nil without a text.
    func text(_ sealer: Sealer) throws(CryptoError) -> String? {
        guard let textSealed else { return nil }
        return String(decoding: try sealer.open(textSealed, context: SealingContext.report(id: id)), as: UTF8.self)
    }
}
