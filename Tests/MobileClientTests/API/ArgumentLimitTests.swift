import Foundation
import Testing

@testable import MobileClient

/// What breaks a limit of the API is refused with its field, and nothing is sent.
@Suite struct ArgumentLimitTests {
    /// A call, and the field that its refusal names.
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let field: String
        let call: @Sendable (AccountClient, ChatClient) async throws(HeliographError) -> Void

        init(
            _ description: String, _ field: String,
            _ call: @escaping @Sendable (AccountClient, ChatClient) async throws(HeliographError) -> Void
        ) {
            testDescription = description
            self.field = field
            self.call = call
        }
    }

    private static let user = UUID()
    private static let refused: [Refused] = [
        Refused("no @", "email") { account, _ throws(HeliographError) in _ = try await account.register(email: "ada.example.org") },
        Refused("two @", "email") { account, _ throws(HeliographError) in _ = try await account.register(email: "a@b@example.org") },
        Refused("a domain of one label", "email") { account, _ throws(HeliographError) in _ = try await account.register(email: "a@b") },
        Refused("a blank", "email") { account, _ throws(HeliographError) in _ = try await account.changeEmail(to: "a b@example.org") },
        Refused("255 bytes", "email") { account, _ throws(HeliographError) in
            _ = try await account.changeEmail(to: "a@" + String(repeating: "b", count: 249) + ".org")
        },
        Refused("an empty name", "display_name") { account, _ throws(HeliographError) in _ = try await account.setDisplayName("  ") },
        Refused("51 characters", "display_name") { account, _ throws(HeliographError) in
            _ = try await account.setDisplayName(String(repeating: "é", count: 51))
        },
        Refused("401 bytes", "display_name") { account, _ throws(HeliographError) in
            _ = try await account.setDisplayName(String(repeating: "👨‍👩‍👧‍👦", count: 17))
        },
        Refused("two lines", "display_name") { account, _ throws(HeliographError) in
            _ = try await account.register(email: "a@example.org", displayName: "A\nB")
        },
        Refused("no code", "code") { account, _ throws(HeliographError) in _ = try await account.verify(user, code: " \n") },
        Refused("17 digits", "code") { account, _ throws(HeliographError) in
            _ = try await account.verify(user, code: String(repeating: "1", count: 17))
        },
        Refused("1,001 blocks", "user_ids") { account, _ throws(HeliographError) in
            _ = try await account.replaceBlocks(with: (0...1_000).map { _ in UUID() })
        },
        Refused("1,001 contacts", "user_ids") { account, _ throws(HeliographError) in
            _ = try await account.replaceContacts(with: (0...1_000).map { _ in UUID() })
        },
        Refused("1,001 characters", "text") { account, _ throws(HeliographError) in
            try await account.report(user: user, ContentReport(.spam, text: String(repeating: "a", count: 1_001)))
        },
        Refused("no id", "topic") { _, chat throws(HeliographError) in try await chat.enter("") },
        Refused("65 characters", "topic") { _, chat throws(HeliographError) in try await chat.leave(String(repeating: "a", count: 65)) },
        Refused("a slash", "topic") { _, chat throws(HeliographError) in _ = try await chat.members(of: "../me") },
        Refused("a letter beyond ASCII", "topic") { _, chat throws(HeliographError) in try await chat.setVisible("café") },
        Refused("a page of none", "limit") { _, chat throws(HeliographError) in _ = try await chat.members(of: "c", limit: 0) },
        Refused("a page of 1,001", "limit") { _, chat throws(HeliographError) in _ = try await chat.members(of: "c", limit: 1_001) },
        Refused("an empty text", "text") { _, chat throws(HeliographError) in _ = try await chat.send(.init(""), to: "c") },
        Refused("no text", "text") { _, chat throws(HeliographError) in _ = try await chat.send(.init(nil), to: "c") },
        Refused("16 KB and a byte", "text") { _, chat throws(HeliographError) in
            _ = try await chat.send(.init(String(repeating: "a", count: 16 * 1_024 + 1), isSensitive: true), to: "c")
        },
        Refused("a NUL", "text") { _, chat throws(HeliographError) in _ = try await chat.send(.init("a\0b"), to: "c") },
        Refused("an empty id", "message_id") { _, chat throws(HeliographError) in _ = try await chat.send(.init(id: "", text: "a"), to: "c")
        },
        Refused("an id of 49", "message_id") { _, chat throws(HeliographError) in
            _ = try await chat.markRead("c", upTo: String(repeating: "a", count: 49))
        },
        Refused("an id with a colon", "message_id") { _, chat throws(HeliographError) in
            try await chat.report(messageID: "a:b", in: "c", ContentReport(.other))
        },
    ]

    @Test(arguments: refused)
    func `an argument that breaks a limit is refused by its field`(_ refused: Refused) async {
        let sender = ScriptedSender { _ throws(HeliographError) in throw HeliographError(.internal, "it was sent") }
        let error = await #expect(throws: HeliographError.self) {
            try await refused.call(AccountClient(api: sender), ChatClient(api: sender, show: { _ in Issue.record("it was shown") }))
        }
        #expect(error?.code == .invalidArgument && error?.field == refused.field && error?.status == nil)
        #expect(await sender.sent.isEmpty)
    }

    @Test(arguments: [
        " Ada.Lovelace+x@Example.org ", "ä@münchen.example", "a@b.c", String(repeating: "a", count: 64) + "@example.org",
    ])
    func `an address that the API may take passes`(email: String) throws {
        #expect(try ArgumentLimits.email(email) == email.trimmingCharacters(in: .whitespaces))
    }

    @Test func `what is at a limit passes`() throws {
        #expect(try ArgumentLimits.displayName(" \(String(repeating: "é", count: 50))\n") == String(repeating: "é", count: 50))
        #expect(try ArgumentLimits.code(" 123 456 ") == "123456")
        #expect(try ArgumentLimits.topic(.event, String(repeating: "_", count: 64)).utf8.count == 70)
        try ArgumentLimits.messageID(String(repeating: ".", count: 48))
        try ArgumentLimits.message(ChatClient.Message(String(repeating: "a", count: 16 * 1_024)))
        try ArgumentLimits.message(ChatClient.Message(nil, isSensitive: true))
        try ArgumentLimits.people((0..<1_000).map { _ in UUID() })
        try ArgumentLimits.report(ContentReport(.spam, text: String(repeating: "a", count: 1_000)))
        try ArgumentLimits.page(1_000)
    }
}
