import FCMEmulator
import Mail
import TestSupport
import Testing

@Suite struct RefusalTests {
    @Test(arguments: [
        (MailStep.recipient, 550, MailError.Code.recipientRefused), (.recipient, 553, .recipientRefused), (.recipient, 451, .unavailable),
        (.recipient, 421, .unavailable), (.recipient, 530, .misconfigured), (.sender, 553, .misconfigured),
        (.sender, 452, .unavailable), (.sender, 552, .recipientRefused), (.data, 554, .recipientRefused), (.data, 451, .unavailable),
        (.connection, 554, .unavailable), (.connection, 421, .unavailable),
    ])
    func `a reply says whether the mail can be sent later`(step: MailStep, code: Int, expected: MailError.Code) async throws {
        try await MailServer.run { server in
            server.refuse(step, with: code)
            let error = try #require(await server.client.failure())
            #expect(error.code == expected, "\(error)")
            #expect(error.reply == code, "\(error)")
            #expect(await server.emulator.mails().isEmpty)
            try await server.client.send(.sample())
        }
    }

    @Test func `a refusal does not name the address`() async throws {
        try await MailServer.run { server in
            server.refuse(.recipient, with: 550, to: "ann@example.org")
            let error = try #require(await server.client.failure())
            #expect(!"\(error)".contains("ann"))
            #expect("\(error)" == "recipient_refused: the server did not accept the recipient (reply 550, curl 55)")
        }
    }

    @Test(arguments: [false, true]) func `a lost answer leaves open whether the mail was taken`(isDelivered: Bool) async throws {
        try await MailServer.run { server in
            server.fault(.dropConnection, at: .data, isDelivered: isDelivered)
            let error = try #require(await server.client.failure())
            #expect(error.code == .unavailable && error.reply == nil, "\(error)")
            try await server.client.send(.sample())
            let ids = await server.emulator.mails().map { $0.field("Message-ID") }
            #expect(ids.count == (isDelivered ? 2 : 1) && Set(ids).count == 1, "the repetition has the same id")
        }
    }

    @Test func `a server that is not there is unavailable`() async throws {
        let port = try FreePort.find()
        let client = SMTPClient(
            try SMTPConfiguration(url: "smtp://127.0.0.1:\(port)", from: "a@example.com"), logger: FCMEmulator.quietLogger)
        let error = await client.failure()
        #expect(error?.code == .unavailable)
        await client.close()
    }

    @Test func `a mail that is too large for the server is refused for good`() async throws {
        try await MailServer.run(server: { $0.limits.mailBytes = 2_000 }) { server in
            let error = await server.client.failure(.sample(text: String(repeating: "many words ", count: 1_000)))
            #expect(error?.code == .recipientRefused && error?.reply == 552, "\(String(describing: error))")
        }
    }
}
