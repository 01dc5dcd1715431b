// An app may log these values by mistake, so their texts and mirrors contain no tokens.

extension AccountTokens: CustomStringConvertible, CustomReflectable {
    /// The id of the account, without the tokens.
    public var description: String { "tokens of \(userID)" }
    /// The id of the account and the lifetime, without the tokens, for `dump` and debuggers.
    public var customMirror: Mirror { Mirror(self, children: ["userID": userID, "expiresIn": expiresIn]) }
}

extension AccountSession: CustomStringConvertible, CustomReflectable {
    /// The ids of the sign-in and the account, without the tokens.
    public var description: String { "sign-in \(id) of \(userID)" }
    /// The ids of the sign-in and the account and its end, without the tokens, for `dump` and debuggers.
    public var customMirror: Mirror { Mirror(self, children: ["id": id, "userID": userID, "expiresAt": expiresAt]) }
}

extension AccountClient.Verified: CustomStringConvertible, CustomReflectable {
    /// The purpose and the id of the account, without the enrolment token.
    public var description: String {
        switch self {
        case .registration: "registration"
        case .enrolment(let userID): "enrolment of \(userID)"
        case .emailChange(let userID, _): "change of the address of \(userID)"
        case .other(let purpose): purpose
        }
    }
    /// The text of `description` alone, for `dump` and debuggers.
    public var customMirror: Mirror { Mirror(self, children: ["purpose": description]) }
}

extension TransportHeaders: CustomStringConvertible, CustomReflectable {
    /// Headers that contain a credential, or name the phone.
    private static let secrets: Set = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-session-token", "dpop", "x-firebase-installation-id",
    ]

    private var shown: [(name: String, value: String)] {
        values.sorted { $0.key < $1.key }.map { ($0.key, Self.secrets.contains($0.key) ? "…" : $0.value) }
    }

    /// All headers, sorted by name, with `…` for values that are credentials or name the phone.
    public var description: String { shown.map { "\($0.name): \($0.value)" }.joined(separator: ", ") }
    /// The headers as in `description`, for `dump` and debuggers.
    public var customMirror: Mirror { Mirror(self, children: shown.map { (label: $0.name, value: $0.value) }) }
}
