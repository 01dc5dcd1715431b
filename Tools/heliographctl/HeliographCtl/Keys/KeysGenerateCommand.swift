internal import ArgumentParser
internal import CommandLineSupport
internal import HeliographCrypto
internal import ServiceDefaults
internal import Storage

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

            An id that a ring of the environment has is refused: two keys of one id cannot be told apart. Take the next number, such as \
            k2 after k1: `keys status` takes an unused key for a new one when its id comes after that of the first key of the ring.

            These secrets give access to all data: keep them where you keep passwords, and keep a copy.
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The id of the keys of the rings: 1 to 32 of A-Z a-z 0-9 _ -.",
            discussion: "It is stored beside everything the key seals or finds.", valueName: "id"))
    var keyID = "k1"

    @Option(name: .long, help: "Print the line of one ring only, for a rotation.")
    var ring: KeyPurpose?

    mutating func validate() throws {
        do {
            _ = try KeyRing(parsing: KeyRing.generateText(id: keyID))
        } catch {
            throw ValidationError("--key-id is 1 to 32 of A-Z a-z 0-9 _ -.")
        }
    }

    func run() async throws {
        let purposes = ring.map { [$0] } ?? KeyPurpose.allCases
        let settings = try await Settings.withKeys()
        if let ring, try settings.installationKeyIDs(ring) == nil {
            Console.current.note("\(ring.setting) is not in this environment: check that the ring has no key \(keyID) yet.")
        }
        for purpose in purposes {
            guard try settings.installationKeyIDs(purpose)?.contains(keyID) != true else {
                Console.current.note("\(purpose.setting) has a key \(keyID): give the new one another id, such as --key-id k2.")
                throw ExitCode.validationFailure
            }
        }
        for purpose in purposes {
            Console.current.result("\(purpose.setting)=\(KeyRing.generateText(id: keyID))")
        }
        guard ring == nil else { return }
        for name in ["SESSION_KEY", "MEDIA_LINK_KEY"] {
            Console.current.result("\(name)=\(Base64.encode(SecureRandom.bytes(KeyRing.keyByteCount)))")
        }
    }
}
