import FCMEmulator
import FoundationEssentials
import HeliographCrypto
import Storage
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

    /// The parameters of a kind, with the text in every parameter that users can write.
    private func parameters(_ kind: NotificationKind, _ text: String, _ system: PushSystem, _ id: UUID) throws -> [String: String] {
        var parameters = [
            "success": "true", "session_id": UUID().uuidString, "user_id": "u", "event_id": "e", "job_id": UUID().uuidString,
            "template_name": text, "reason": text, "alert": AccountAlert.newSignIn.rawValue, "handover_id": UUID().uuidString,
        ]
        parameters[NotificationParameter.nonceSealed] = try sealed("nonce", SealingContext.possessionNonce(notificationID: id), system)
        let content = String(decoding: try JSONEncoder().encode(AppContent(kind: "news", title: text, body: text)), as: UTF8.self)
        parameters[NotificationParameter.contentSealed] = try sealed(content, SealingContext.appContent(notificationID: id), system)
        guard kind == .chatMessage else { return parameters }
        parameters["conversation_id"] = "c-1"
        parameters["message_id"] = UUID().uuidString
        parameters["sender_id"] = UUID().uuidString
        parameters["sender_name"] = text
        parameters["text"] = text
        parameters["sensitive"] = "false"
        parameters[NotificationParameter.textSealed] = try sealed(text, SealingContext.chatPreview(notificationID: id), system)
        parameters[NotificationParameter.senderNameSealed] = try sealed(
            text, SealingContext.chatSenderName(notificationID: id), system)
        return parameters
    }

    private func sealed(_ text: String, _ context: [UInt8], _ system: PushSystem) throws -> String {
        Base64URL.encode(try system.sealer.seal(Array(text.utf8), context: context))
    }

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
                    let parameters = try parameters(kind, text, system, id)
                    ids.append(try await system.push(kind, to: .user(user), parameters: parameters, id: id))
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
