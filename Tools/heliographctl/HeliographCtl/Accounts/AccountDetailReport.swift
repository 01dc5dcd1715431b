internal import Accounts
internal import CommandLineSupport
internal import FoundationEssentials
internal import HeliographCrypto
internal import Push
internal import WireFormat

/// Everything that an operator may see of an account, as text or JSON.
struct AccountDetailReport: Report {
    let account: AccountSummary
    let details: AccountDetails
    let signIns: [SignIn]
    let installs: [PushInstall]
    let locks: LockReport
    /// The e-mail and the name that others see, when they were asked for.
    private(set) var email: String?
    private(set) var displayName: String?

    init(account: AccountSummary, details: AccountDetails, signIns: [SignIn], installs: [PushInstall], locks: LockReport) {
        self.account = account
        self.details = details
        self.signIns = signIns
        self.installs = installs
        self.locks = locks
    }

    /// Opens the sealed values.
    mutating func reveal(with sealer: Sealer) throws {
        func opened(_ sealed: [UInt8]?, _ context: [UInt8]) throws -> String? {
            try sealed.map { String(decoding: try sealer.open($0, context: context), as: UTF8.self) }
        }
        email = try opened(account.emailSealed, SealingContext.email(accountID: account.id))
        displayName = try opened(account.displayNameSealed, SealingContext.displayName(userID: account.id))
    }

    func encode(to encoder: any Encoder) throws {
        let installs = installs.map { install -> JSONRecord in
            [
                "install_id": install.id.wireString, "platform": install.platform, "app_version": install.appVersion,
                "locale": install.locale, "state": install.state.rawValue, "registered_at": install.registeredAt,
                "last_seen_at": install.lastSeenAt,
            ]
        }
        let record: JSONRecord = [
            "id": account.id.wireString, "state": details.state, "created_at": account.createdAt, "email": email,
            "display_name": displayName, "has_email": account.emailSealed != nil, "has_display_name": account.displayNameSealed != nil,
            "face_enrolled_at": account.faceEnrolledAt, "face_at": account.faceAt, "face_model": account.faceModel,
            "recovery_due_at": details.recoveryDueAt, "identity_providers": account.identityProviders,
            "sign_ins_ended_at": account.signInsEndedAt, "consent_version": details.consentVersion, "consent_at": details.consentAt,
            "topics": account.topics, "jobs": details.jobs, "open_jobs": details.openJobs, "blocked": details.blocked,
            "blockers": details.blockers, "open_reports": details.openReports, "erasures": details.erasures.map(\.wireString),
            "sign_ins": SignInReport(signIns: signIns), "installs": installs, "locks": locks,
        ]
        try record.encode(to: encoder)
    }

    func lines(_ style: TextStyle) -> [PrintableText] {
        let width = fields.map(\.name.count).max() ?? 0
        var lines = fields.map { field -> PrintableText in
            let label = field.name + String(repeating: " ", count: width - field.name.count)
            return "\(style.apply(.faint, to: PrintableText(label)))  \(field.value)"
        }
        lines += ["", "Signed in on \(HumanUnits.count(signIns.count, "device"))."]
        if !signIns.isEmpty { lines += SignInReport(signIns: signIns).lines(style) }
        lines += ["", "Pushes go to \(HumanUnits.count(installs.count, "installation"))."]
        if !installs.isEmpty { lines += installTable.lines(style) }
        return lines + [""] + locks.lines(style)
    }

    private var fields: [(name: String, value: String)] {
        func sealed(_ value: [UInt8]?, _ opened: String?) -> String { opened ?? (value == nil ? "none" : "sealed; --reveal prints it") }
        func time(_ date: Date?, _ otherwise: String) -> String { date.map(HumanUnits.timestamp) ?? otherwise }
        let face = account.faceModel.map { "\(time(account.faceAt, "")), first \(time(account.faceEnrolledAt, "")), by \($0)" }
        let erasures = details.erasures.map(\.wireString).joined(separator: " ")
        return [
            ("account", account.id.wireString), ("state", details.state), ("created", HumanUnits.timestamp(account.createdAt)),
            ("e-mail", sealed(account.emailSealed, email)), ("name", sealed(account.displayNameSealed, displayName)),
            ("face", face ?? "none"), ("recovery", time(details.recoveryDueAt, "none")),
            ("identity providers", account.identityProviders.isEmpty ? "none" : account.identityProviders.joined(separator: " ")),
            ("all sign-ins ended", time(account.signInsEndedAt, "never")),
            ("consent", details.consentVersion.map { "\($0), \(time(details.consentAt, ""))" } ?? "none"),
            ("topics", "\(account.topics)"), ("pictures", "\(details.jobs), \(details.openJobs) not ended"),
            ("blocks", "\(details.blocked) users; blocked by \(details.blockers)"), ("open reports about", "\(details.openReports)"),
            ("erasures under way", erasures.isEmpty ? "none" : erasures),
        ]
    }

    private var installTable: Table {
        var table = Table(["INSTALLATION", "PLATFORM", "APP", "LOCALE", "STATE", "REGISTERED", "LAST SEEN"])
        for install in installs {
            table.add([
                .init(install.id.wireString), install.platform.map { .init($0) } ?? .nothing,
                install.appVersion.map { .init($0) } ?? .nothing, install.locale.map { .init($0) } ?? .nothing,
                .init(install.state.rawValue, install.state == .active ? .none : .warning),
                .init(HumanUnits.timestamp(install.registeredAt)), .init(HumanUnits.timestamp(install.lastSeenAt)),
            ])
        }
        return table
    }
}
