internal import Accounts
internal import ArgumentParser
internal import BlobStore
internal import CommandLineSupport
internal import HeliographCrypto
internal import ServiceDefaults

/// Opens everything that a ring seals, or looks up everything.
struct KeysVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Open everything that a ring seals, and say what does not open.",
        discussion: """
            The ring is read from its setting, such as FACE_KEYS, and needs no other keys than those that the services keep: after a \
            rotation, the ring without the old key; after a restore, the ring of now. Nothing is changed, and no content is shown. Rings \
            with pictures need the settings of the blob store. Each value is read and opened, so this takes as long as a backup. The ring \
            lookups is verified by opening e-mails with ACCOUNT_KEYS: the first key has to find each of them.

              heliographctl keys verify --ring faces
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: "The ring: faces, accounts, tokens, pictures or lookups.")
    var ring: KeyPurpose

    func run() async throws {
        let settings = try await Settings.withKeys()
        let outcome = try await ring == .lookups ? verifyLookups(settings) : verifySeals(settings)
        Console.current.result("opened \(outcome.opened)")
        guard !outcome.failed.isEmpty else { return }
        for (place, count) in outcome.failed.sorted(by: { $0.key < $1.key }) {
            Console.current.note(
                "\(place): \(count) do not open with \(ring.setting)" + (ring == .lookups ? " and ACCOUNT_KEYS, or are not found" : ""))
        }
        throw ExitCode.failure
    }

    private func verifySeals(_ settings: Settings) async throws -> SealVerification.Outcome {
        let sealer = try settings.installationSealer(ring)
        let blobs = try KeyCounts.store(for: ring, sealer: sealer)
        return try await database.withDatabase { client in
            try await SealVerification(purpose: ring, sealer: sealer, postgres: client, blobs: blobs).run()
        }
    }

    private func verifyLookups(_ settings: Settings) async throws -> SealVerification.Outcome {
        let (keys, sealer) = (try settings.installationLookupKeys(), try settings.installationSealer(.accounts))
        return try await database.withDatabase { client in
            try await LookupVerification(keys: keys, sealer: sealer, postgres: client).run()
        }
    }
}
