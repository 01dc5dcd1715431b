internal import ArgumentParser
internal import CommandLineSupport
internal import HeliographCrypto
internal import ServiceDefaults
internal import Storage

/// Seals everything of a ring anew with its first key.
struct KeysRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Seal everything of a ring anew with the ring's first key, while the services run.",
        discussion: """
            The ring is read from its setting, such as FACE_KEYS, and has both keys, the new one in front. Every service that has the \
            ring must run with the new key in front before: docs/OPERATIONS.md has the steps. A rotation may be interrupted and begun \
            again. Rings with pictures need the settings of the blob store.

              heliographctl keys rotate --ring faces
              heliographctl keys rotate --ring tokens --rate 200/s
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: "The ring: faces, accounts, tokens or pictures.")
    var ring: KeyPurpose

    @Option(name: .long, help: ArgumentHelp("The maximum rate, such as 100/s.", valueName: "rate"))
    var rate: RateArgument?

    func run() async throws {
        let settings = try await Settings.withKeys()
        let sealer = try reporting(hint: "nothing") { try settings.sealer(ring) }
        let blobs = try KeyCounts.store(for: ring, sealer: sealer)
        let outcome = try await database.withDatabase { client in
            try await SealRotation(purpose: ring, sealer: sealer, postgres: client, blobs: blobs, rate: rate)
                .run(note: Console.current.note)
        }
        Console.current.result("sealed anew \(outcome.resealed)")
        guard outcome.failed > 0 else { return }
        Console.current.note("\(outcome.failed) do not open with \(ring.setting): keys status shows the ids of their keys.")
        throw ExitCode.failure
    }
}
