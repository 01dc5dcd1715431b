internal import Accounts
internal import ArgumentParser
internal import BlobStore
internal import CommandLineSupport
internal import HeliographCrypto
internal import ServiceDefaults

/// Shows how much is sealed with, or found by, which key.
struct KeysStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Count what each key has sealed or finds, and say which keys can be removed.",
        discussion: """
            Reads the rings that the environment has; of others only the ids of keys are counted. Objects are counted when the environment \
            has the ring and the settings of the blob store. Dead letters are not counted. Of the ring lookups the first key counts with \
            all that it finds, and another one with what the first one does not find.

            in use: it seals or finds something. safe to remove: nothing needs it any more. unused, new: its id comes after that of the \
            first key, so that it waits to be put in front; if it does not, because it was in front before, remove it. not in the ring: \
            it was removed too early, put it back behind the others.

              heliographctl keys status
              heliographctl keys status --ring faces --json
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: "One ring only: faces, accounts, tokens, pictures or lookups.")
    var ring: KeyPurpose?

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    func run() async throws {
        let settings = try await Settings.withKeys()
        let rings = try await database.withDatabase { client in
            var rings: [KeyCounts] = []
            for purpose in ring.map({ [$0] }) ?? KeyPurpose.allCases {
                let isKnown = try settings.installationKeyIDs(purpose) != nil
                guard purpose != .lookups else {
                    rings.append(try await KeyCounts(lookups: isKnown ? settings.installationLookupKeys() : nil, postgres: client))
                    continue
                }
                let sealer = try isKnown ? settings.installationSealer(purpose) : nil
                // Without a store the values of the tables are counted all the same.
                let blobs = sealer.flatMap { try? settings.blobStore(sealer: $0, logger: .silent) }
                rings.append(try await KeyCounts(purpose, ring: sealer?.keyIDs, postgres: client, blobs: blobs))
            }
            return rings
        }
        try Console.current.show(KeyReport(rings: rings), asJSON: json)
    }
}
