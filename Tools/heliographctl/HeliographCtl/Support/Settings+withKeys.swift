internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import HeliographCrypto
internal import Logging
internal import ServiceDefaults
internal import WireFormat

extension Settings {
    /// The settings of the environment for commands that read keys, with those opened that a key management has wrapped. Ends the
    /// command with a note when one does not open.
    static func withKeys() async throws -> Settings {
        do {
            return try await Settings().unwrappingKeys(logger: .silent)
        } catch {
            Console.current.note("\(error)")
            throw ExitCode.configuration
        }
    }

    /// The lookup keys of the installation. Ends the command with a note when they are missing or wrong.
    ///
    /// - Parameter option: The option that can replace the keys; nil without such an option.
    func installationLookupKeys(hint option: String? = nil) throws -> LookupKeys {
        try require(KeyPurpose.lookups.setting, "the ring that identity-api has", hint: option)
        return try reporting(hint: option) { try lookupKeys() }
    }

    /// The Firebase project whose users have accounts. Ends the command with a note when it is missing.
    ///
    /// - Parameter option: The option that can replace it; nil without such an option.
    func installationFirebaseProject(hint option: String? = nil) throws -> String {
        let name = "FIREBASE_AUTH_PROJECT_ID"
        try require(name, "the project that identity-api has", hint: option)
        return try reporting(hint: option) { try string(name, "the id of a Firebase project") }
    }

    /// The sealer of a ring of the installation. Ends the command with a note when the ring is missing or wrong.
    func installationSealer(_ purpose: KeyPurpose) throws -> Sealer {
        try require(purpose.setting, "the ring that the services have")
        return try reporting { try sealer(purpose) }
    }

    /// The ids of the keys of a ring: the first key seals; nil when the environment lacks the ring. Ends the command with a note
    /// when it is wrong.
    func installationKeyIDs(_ purpose: KeyPurpose) throws -> [String]? {
        try reporting {
            guard try optionalString(purpose.setting) != nil else { return nil }
            return purpose == .lookups ? try lookupKeys().ids : try sealer(purpose).keyIDs
        }
    }

    /// Ends the command when a setting is missing. The settings' own advice is to make a secret, but a new secret cannot open or find
    /// existing values.
    private func require(_ name: String, _ expectation: String, hint option: String? = nil) throws {
        guard try reporting({ try optionalString(name) }) == nil else { return }
        Console.current.note("\(name) is missing: give \(expectation)" + (option.map { " (or pass \($0))" } ?? ""))
        throw ExitCode.configuration
    }
}

extension EmailAddress {
    /// The lookups of the address under the keys of the environment. Ends the command with a note without them.
    ///
    /// - Parameter option: The option that can replace the address.
    func installationLookups(hint option: String) async throws -> [[UInt8]] {
        lookups(under: try await Settings.withKeys().installationLookupKeys(hint: option))
    }
}
