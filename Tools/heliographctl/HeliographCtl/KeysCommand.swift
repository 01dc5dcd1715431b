internal import ArgumentParser
internal import CommandLineSupport
internal import HeliographCrypto

/// The commands for the secrets of an installation.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Make the secrets that seal and look up personal data.",
        subcommands: [KeysGenerateCommand.self]
    )
}

/// Prints fresh secrets as lines of an environment file.
struct KeysGenerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Print fresh SEALING_KEYS, LOOKUP_KEY and MEDIA_LINK_KEY lines for an environment file.",
        discussion: """
            SEALING_KEYS seals photos, face templates, e-mails and push tokens (AES-256-GCM). To rotate it, put a new \
            key in front: SEALING_KEYS=k2:…,k1:… — the first one seals, all of them open.

            LOOKUP_KEY turns e-mails and installation ids into lookup values (HMAC-SHA256). It cannot be changed later: \
            accounts would no longer be found.

            MEDIA_LINK_KEY signs the links to pictures (HMAC-SHA256). With another one, the links of the last 24 hours end.

            These secrets give access to all data: keep them where you keep passwords, and keep a copy.
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The id of the sealing key: 1 to 32 of A-Z a-z 0-9 _ -.",
            discussion: "It is stored beside everything the key seals.", valueName: "id"))
    var keyID = "k1"

    @Flag(name: .long, help: "Print the SEALING_KEYS line only, for a rotation.")
    var sealingOnly = false

    mutating func validate() throws {
        do {
            _ = try KeyRing(parsing: KeyRing.generateText(id: keyID))
        } catch {
            throw ValidationError("--key-id is 1 to 32 of A-Z a-z 0-9 _ -.")
        }
    }

    func run() async throws {
        Console.current.result("SEALING_KEYS=\(KeyRing.generateText(id: keyID))")
        if !sealingOnly {
            Console.current.result("LOOKUP_KEY=\(Base64.encode(SecureRandom.bytes(KeyRing.keyByteCount)))")
            Console.current.result("MEDIA_LINK_KEY=\(Base64.encode(SecureRandom.bytes(KeyRing.keyByteCount)))")
        }
    }
}
