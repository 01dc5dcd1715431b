internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import HeliographCrypto
internal import ServiceDefaults
internal import WireFormat

/// Shows a report with its text.
struct ReportsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a report with what the reporter wrote.",
        discussion: """
            The text is sealed: ACCOUNT_KEYS of the environment opens it. Without the keys the rest is shown.

              heliographctl reports show 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
            """
    )

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The id of the report.", transform: UUID.argument)
    var id: UUID

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    func run() async throws {
        let settings = try await Settings.withKeys()
        try await options.database.withDatabase { client in
            let console = Console.current
            guard let report = try await AbuseReportRepository(client).find(id: id) else {
                console.note("There is no report \(id.wireString).")
                throw ExitCode.nothingFound
            }
            let text = try text(of: report, settings)
            try await AuditRepository(client).append(AuditEntry(.reportShown, by: options.actor, on: report.reporterID, object: id))
            guard !json else { return console.result(try JSONOutput.text(report.json(text: text))) }
            let lines: [(String, String?)] = [
                ("report", report.id.wireString), ("state", report.state.rawValue), ("at", HumanUnits.timestamp(report.createdAt)),
                ("closed", report.closedAt.map(HumanUnits.timestamp)), ("reason", report.reason.rawValue),
                ("by", report.reporterID?.wireString ?? "an account that is gone"),
                ("about", "\(report.subjectType) \(report.subjectID)"), ("sender", report.senderID?.wireString),
            ]
            for case (let name, let value?) in lines {
                console.result("\(name.padding(to: 8))\(value)")
            }
            if let text { ([""] + PrintableText.lines(of: text)).forEach(console.result) }
        }
    }

    /// Opens the text; nil without a text or without keys.
    private func text(of report: AbuseReport, _ settings: Settings) throws -> String? {
        guard report.textSealed != nil else { return nil }
        guard try reporting({ try settings.optionalString(KeyPurpose.accounts.setting) }) != nil else {
            Console.current.note("The text is sealed: set ACCOUNT_KEYS to read it.")
            return nil
        }
        let sealer = try settings.installationSealer(.accounts)
        do {
            return try report.text(sealer)
        } catch {
            Console.current.note("The text does not open with these ACCOUNT_KEYS.")
            throw ExitCode.configuration
        }
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
