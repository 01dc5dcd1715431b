import FCMEmulator
import Mail
import TestSupport
import Testing

@Suite struct DeliveryTests {
    @Test func `a mail arrives over TLS with its subject and its text`() async throws {
        try await MailServer.run { server in
            let text = "Grüße, 小明\n\n.a line with a dot\n..two\n.\nend " + String(repeating: "x", count: 3_000) + " \n"
            let subject = "Ihr Code für „Heliograph“"
            try await server.client.send(MailMessage(to: "ann@example.org", subject: subject, text: text, id: "m.1-a_B"))
            let mail = try #require(await server.emulator.mails(to: "ANN@example.org").first)
            #expect(mail.isTLS && mail.from == "no-reply@example.com" && mail.recipients == ["ann@example.org"])
            #expect(mail.subject == subject)
            #expect(mail.text == text)
            #expect(mail.field("Message-ID") == "<m.1-a_B@example.com>")
            #expect(mail.field("From") == "\"Heliograph\" <no-reply@example.com>")
            #expect(mail.field("Auto-Submitted") == "auto-generated")
        }
    }

    @Test func `a server that begins with TLS is spoken to as such`() async throws {
        try await MailServer.run(server: { $0.smtpTLSPort = 0 }) { server in
            let client = try server.client(url: server.emulator.smtpsURL) { _ in }
            try await client.send(.sample())
            await client.close()
            #expect(await server.emulator.mails().map(\.isTLS) == [true])
        }
    }

    @Test func `a password is given over TLS`() async throws {
        try await MailServer.run(server: { ($0.smtpUser, $0.smtpPassword) = ("app", "s3cret é") }) { server in
            #expect(await server.client.failure()?.code == .misconfigured, "530: without a password")
            let client = try server.client { $0 = try $0.with(username: "app", password: "s3cret é") }
            try await client.send(.sample())
            await client.close()
            let stranger = try server.client { $0 = try $0.with(username: "app", password: "wrong") }
            let error = await stranger.failure()
            #expect(error?.code == .misconfigured)
            #expect(error.map { "\($0)".contains("wrong") } == false)
            await stranger.close()
            #expect(await server.emulator.mails().count == 1)
        }
    }

    @Test func `a client knows after its first mail whether the server takes international addresses`() async throws {
        try await MailServer.run(server: { ($0.smtpUser, $0.smtpPassword) = ("app", "secret") }) { server in
            let client = try server.client { $0 = try $0.with(username: "app", password: "secret") }
            try await finally(client.close) {
                #expect(client.takesInternationalAddresses == nil)
                try await client.send(.sample())
                #expect(client.takesInternationalAddresses == true)
            }
        }
    }

    @Test func `a local part with dots where an atom has none is quoted`() async throws {
        try await MailServer.run { server in
            try await server.client.send(MailMessage(to: "a..b@docomo.example", subject: "s", text: "t", id: "1"))
            let mail = try #require(await server.emulator.mails().first)
            #expect(mail.recipients == [#""a..b"@docomo.example"#] && mail.field("To") == #"<"a..b"@docomo.example>"#)
        }
    }

    @Test func `mails in the clear are sent only where the configuration says so`() async throws {
        try await MailServer.run(server: { $0.tlsPort = nil }) { server in
            let error = await server.client.failure()
            #expect(error?.code == .misconfigured && error?.curlCode == 64)
            #expect(await server.emulator.mails().isEmpty)
            let plain = try server.client { $0 = try $0.with(tls: .none) }
            try await plain.send(.sample())
            await plain.close()
            #expect(await server.emulator.mails().map(\.isTLS) == [false])
        }
    }

    @Test func `a server with another certificate is not trusted`() async throws {
        try await MailServer.run(client: { $0.caFile = nil }) { server in
            #expect(await server.client.failure()?.code == .misconfigured)
            #expect(await server.emulator.mails().isEmpty)
        }
    }

    @Test func `an address beyond ASCII is sent to with SMTPUTF8`() async throws {
        try await MailServer.run { server in
            try await server.client.send(.sample(to: "jörg@example.org"))
            let mail = try #require(await server.emulator.mails().first)
            #expect(mail.recipients == ["jörg@example.org"])
            #expect(mail.field("To") == "<jörg@example.org>")
        }
    }

    @Test func `one connection serves one mail after the other`() async throws {
        try await MailServer.run(server: { $0.limits.mailConnections = 1 }, client: { $0.maxConnections = 1 }) { server in
            for number in 1...5 { try await server.client.send(.sample(id: "m\(number)")) }
            #expect(await server.emulator.mails().count == 5)
            #expect(server.emulator.statistics.mailConnections == 1)
        }
    }

    @Test func `mails beyond the connections wait for one`() async throws {
        try await MailServer.run(server: { $0.limits.mailConnections = 2 }) { server in
            try await withThrowingTaskGroup { group in
                for number in 0..<20 { group.addTask { try await server.client.send(.sample(id: "m\(number)")) } }
                try await group.waitForAll()
            }
            #expect(Set(await server.emulator.mails().map { $0.field("Message-ID") }).count == 20)
            #expect(server.emulator.statistics.mailConnections <= 2)
        }
    }

    @Test func `a connection that the server closed is replaced`() async throws {
        try await MailServer.run { server in
            try await server.client.send(.sample(id: "m1"))
            server.emulator.dropConnections()
            try await eventually("the connection is closed") { server.emulator.statistics.openMailConnections == 0 }
            try await server.client.send(.sample(id: "m2"))
            #expect(await server.emulator.mails().count == 2)
        }
    }

    @Test func `a mail is sent over a new connection when the kept one is silent`() async throws {
        try await MailServer.run { server in
            let port = try #require(server.emulator.smtpURL?.split(separator: ":").last.flatMap { Int($0) })
            let proxy = try await FaultProxy.start(to: .tcp(port: port))
            let client = try server.client(url: "smtp://localhost:\(proxy.port)") {
                ($0.silenceLimit, $0.maxConnections) = (.seconds(1), 1)
            }
            try await client.send(.sample(id: "m1"))
            try await proxy.freeze()
            let start = ContinuousClock.now
            try await client.send(.sample(id: "m2"))
            #expect(ContinuousClock.now - start < .seconds(60))
            #expect(await server.emulator.mails().count == 2)
            await client.close()
            await proxy.stop()
        }
    }
}
