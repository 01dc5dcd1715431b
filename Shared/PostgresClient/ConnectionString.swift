internal import CLibPQ

/// The parameters of a connection URI or conninfo string, as libpq reads it.
struct ConnectionString {
    private let values: [String: String]

    /// Parses a string; nil when libpq does not understand it.
    init?(_ text: String) {
        guard let first = PQconninfoParse(text, nil) else { return nil }
        defer { PQconninfoFree(first) }
        var values: [String: String] = [:]
        var option = first
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        self.values = values
    }

    subscript(_ name: String) -> String? { values[name] }

    /// The hosts and ports that it leads to.
    var address: [String?] { [values["host"], values["hostaddr"], values["port"]] }

    /// Whether each connection is on this machine (a Unix socket), or encrypted to a server whose certificate is checked.
    var isProtected: Bool {
        if values["sslmode"] == "verify-full" { return true }
        let hosts = (values["host"] ?? "").split(separator: ",")
        return values["hostaddr"] == nil && !hosts.isEmpty && hosts.allSatisfy { $0.hasPrefix("/") }
    }
}
