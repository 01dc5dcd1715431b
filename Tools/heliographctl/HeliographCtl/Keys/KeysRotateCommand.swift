internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import HeliographCrypto
internal import ServiceDefaults

/// Reseals all values and objects of a ring with its first key, or makes all lookups under that key.
struct KeysRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Seal everything of a ring anew with the ring's first key, while the services run.",
        discussion: """
            The ring is read from its setting, such as FACE_KEYS, and has both keys, the new one in front. Every service that has the \
            ring must run with the new key in front before: docs/operations/keys.md has the steps. A rotation may be interrupted and begun \
            again. Rings with pictures need the settings of the blob store.

            The ring lookups seals nothing: e-mails and users of identity providers get lookups under its first key, for which \
            ACCOUNT_KEYS opens them, and receipts of erasures its signature. When the old key is removed everywhere, --forget deletes \
            its lookups, of accounts that the first key finds, and makes none.

              heliographctl keys rotate --ring faces
              heliographctl keys rotate --ring tokens --rate 200/s
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: "The ring: faces, accounts, tokens, pictures or lookups.")
    var ring: KeyPurpose

    @Option(name: .long, help: ArgumentHelp("The maximum rate, such as 100/s.", valueName: "rate"))
    var rate: RateArgument?

    @Flag(name: .long, help: "With the ring lookups: only delete the lookups of keys that the ring has no longer.")
    var forget = false

    mutating func validate() throws {
        if forget, ring != .lookups { throw ValidationError("--forget is for the ring lookups.") }
    }

    func run() async throws {
        let settings = try await Settings.withKeys()
        guard ring != .lookups else { return try await rotateLookups(settings) }
        let sealer = try settings.installationSealer(ring)
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

    private func rotateLookups(_ settings: Settings) async throws {
        let (keys, sealer) = (try settings.installationLookupKeys(), try settings.installationSealer(.accounts))
        let outcome = try await database.withDatabase { client in
            let rotation = LookupRotation(keys: keys, sealer: sealer, postgres: client, rate: rate)
            return try await forget ? rotation.forget(note: Console.current.note) : rotation.run(note: Console.current.note)
        }
        if forget { try report(forgotten: outcome, keys) } else { try report(rotated: outcome, keys) }
    }

    private func report(rotated outcome: LookupRotation.Outcome, _ keys: LookupKeys) throws {
        Console.current.result("made anew \(outcome.made)")
        if !outcome.isFinished {
            Console.current.note("The last pass still found rows without \(keys.ids[0]): rotate again. An e-mail may have two accounts.")
        }
        if outcome.failed > 0 {
            Console.current.note("\(outcome.failed) do not open with ACCOUNT_KEYS, or are receipts of a key that is not in LOOKUP_KEYS.")
        }
        guard outcome.isFinished, outcome.failed == 0 else { throw ExitCode.failure }
    }

    private func report(forgotten outcome: LookupRotation.Outcome, _ keys: LookupKeys) throws {
        Console.current.result("deleted \(outcome.deleted) of keys that the ring has no longer")
        guard outcome.failed > 0 else { return }
        Console.current.note("\(outcome.failed) accounts keep theirs: \(keys.ids[0]) does not find them, or they do not open.")
        Console.current.note("Is LOOKUP_KEYS the ring of identity-api? Then rotate without --forget before.")
        throw ExitCode.failure
    }
}
