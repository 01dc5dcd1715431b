internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import HeliographCrypto
internal import ServiceDefaults

/// Prints fresh secrets as lines of an environment file.
struct KeysGenerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Print fresh secrets as lines of an environment file.",
        discussion: """
            FACE_KEYS, ACCOUNT_KEYS, TOKEN_KEYS and PICTURE_KEYS are the rings of keys that seal faces, accounts, push tokens and \
            pictures (AES-256-GCM). Give each service only those it needs. To rotate a ring, put a new key in front: \
            FACE_KEYS=k2:…,k1:… — the first one seals, all of them open.

            LOOKUP_KEYS is the ring of keys by whose hashes e-mails and users of identity providers are found (HMAC-SHA256). Without it \
            accounts are not found.

            SESSION_KEY makes the pseudonyms of sessions and the hashes of their photos. With another one, photos of the last 180 days \
            are accepted once more.

            MEDIA_LINK_KEY signs the links to pictures (HMAC-SHA256). With another one, the links of the last 24 hours end.

            The id is the next number that no ring of the environment has, k1 without rings: `keys status` takes an unused key for a new \
            one when its id comes after that of the first key of the ring. An id that a ring has is refused: two keys of one id cannot be \
            told apart.

            These secrets give access to all data: keep them where you keep passwords, and keep a copy.
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The id of the keys of the rings: 1 to 32 of A-Z a-z 0-9 _ -. Default: the next number.",
            discussion: "It is stored beside everything the key seals or finds.", valueName: "id"))
    var keyID: String?

    @Option(name: .long, help: "Print the line of one ring only, for a rotation.")
    var ring: KeyPurpose?

    mutating func validate() throws {
        guard let keyID else { return }
        do {
            _ = try KeyRing(parsing: KeyRing.generateText(id: keyID))
        } catch {
            throw ValidationError("--key-id is 1 to 32 of A-Z a-z 0-9 _ -.")
        }
    }

    func run() async throws {
        let purposes = ring.map { [$0] } ?? KeyPurpose.allCases
        let settings = try await Settings.withKeys()
        let taken = try purposes.map { (purpose: $0, ids: try settings.installationKeyIDs($0)) }
        let free = Self.nextID(after: taken.flatMap { $0.ids ?? [] })
        let keyID = keyID ?? free
        if let ring, taken.allSatisfy({ $0.ids == nil }) {
            Console.current.note("\(ring.setting) is not in this environment: check that the ring has no key \(keyID) yet.")
        }
        if let clash = taken.first(where: { $0.ids?.contains(keyID) == true }) {
            Console.current.note("\(clash.purpose.setting) has a key \(keyID): give the new one another id, such as --key-id \(free).")
            throw ExitCode.validationFailure
        }
        for purpose in purposes {
            Console.current.result("\(purpose.setting)=\(KeyRing.generateText(id: keyID))")
        }
        guard ring == nil else { return }
        for name in ["SESSION_KEY", "MEDIA_LINK_KEY"] {
            Console.current.result("\(name)=\(Base64.encode(SecureRandom.bytes(KeyRing.keyByteCount)))")
        }
    }

    /// Returns an id that comes after these: the one with the highest number at its end, with the next number. The id of a removed key is
    /// not used again.
    static func nextID(after ids: [String]) -> String {
        let numbered = ids.compactMap { id -> (stem: String, number: Int)? in
            let digits = id.reversed().prefix { $0.isASCII && $0.isNumber }.count
            // A longer number is no count.
            guard 1...9 ~= digits, let number = Int(id.suffix(digits)) else { return nil }
            return (String(id.dropLast(digits)), number)
        }
        let last = numbered.max { $0.number < $1.number } ?? ids.first.map { ($0, 1) } ?? ("k", 0)
        let next = "\(last.stem)\(last.number + 1)"
        return next.utf8.count <= maxIDLength ? next : "k\(last.number + 1)"
    }

    private static let maxIDLength = 32
}
