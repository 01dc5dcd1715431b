import FCMEmulator
import FoundationEssentials
import HeliographCrypto
import Push
import TestSupport
import Testing
import WireFormat

/// FCM accepts the message built from any user text.
@Suite struct PayloadTests {
    /// Hostile user texts.
    private static let texts: [String] = [
        "a", String(repeating: "é", count: 2_500), String(repeating: "👩‍👩‍👧‍👦", count: 120), "\u{202E}right to left\u{2066}",
        "\"quotes\" \\ and </script>", "line\nbreak\ttab\u{1F}", "\u{FEFF}\u{200B}",
        "e" + String(repeating: "\u{301}", count: 2_000),
        "google.gcm.from", String(repeating: "long ", count: 1_000), "🎨", "\u{2028}\u{2029}",
        "nothing\0here",
    ]

    @Test func `no text makes a message that FCM refuses`() async throws {
        try await PushSystem.with { system in
            var random = SeededGenerator(seed: 20_261_122)
            let noise = (0..<8).map { _ in
                String(
                    String.UnicodeScalarView(
                        (0..<Int.random(in: 1...1_500, using: &random)).compactMap { _ in
                            Unicode.Scalar(UInt32.random(in: 0...0x1_FFFF, using: &random))
                        }))
            }
            var ids: [UUID] = []
            for text in Self.texts + noise {
                // New phones for each text: an installation gets at most ten pushes about sign-ins a minute.
                let user = try await system.makeUser()
                try await system.signIn(system.emulator.mintToken(), user)
                try await system.signIn(system.emulator.mintToken(platform: .android), user)
                for kind in NotificationKind.allCases {
                    let id = UUIDv7.generate()
                    let content = try PushContent.sample(kind, text: text) { text, use in
                        try SealedText(sealing: text, use, of: id, with: system.sealer)
                    }
                    ids.append(try await system.push(content, to: .user(user), id: id))
                }
            }
            for id in ids {
                let states = try await system.settled(id)
                // Deliveries of unknown jobs are skipped.
                #expect(states["failed"] == nil && states["dead"] == nil, "\(states)")
            }
            #expect(system.emulator.badRequests.map(\.reason) == [])
            #expect(system.emulator.statistics.accepted > 100)
        }
    }
}
