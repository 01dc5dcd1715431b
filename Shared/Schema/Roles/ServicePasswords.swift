/// The passwords of the services' roles, as operators write them: `identity-api=… notifier=…`.
public struct ServicePasswords: Sendable {
    /// The form, as the end of the sentence "it should be …".
    public static let expectation = """
        service=password for each service, separated by white space, such as identity-api=…; \
        a password is \(lengths.lowerBound) to \(lengths.upperBound) printable ASCII characters
        """
    private static let lengths = 16...128

    private let passwords: [ServiceRole: String]

    /// No passwords: roles keep their present passwords.
    public init() { passwords = [:] }

    /// Reads the passwords; nil when the text has another form, or names a service twice.
    public init?(parsing text: String) {
        var passwords: [ServiceRole: String] = [:]
        for entry in text.split(whereSeparator: \.isWhitespace) {
            let parts = entry.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let role = ServiceRole(rawValue: String(parts[0])), passwords[role] == nil,
                Self.lengths.contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { return nil }
            passwords[role] = String(parts[1])
        }
        self.passwords = passwords
    }

    /// The password of a service; nil to keep the present one.
    public subscript(role: ServiceRole) -> String? { passwords[role] }
}
