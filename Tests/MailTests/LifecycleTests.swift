import FCMEmulator
import Mail
import TestSupport
import Testing

@Suite struct LifecycleTests {
    @Test(arguments: MailStep.allCases) func `a server that does not answer is given up at the deadline`(step: MailStep) async throws {
        try await MailServer.run(client: { $0.timeout = .milliseconds(300) }) { server in
            server.fault(.hang, at: step)
            let start = ContinuousClock.now
            let error = try #require(await server.client.failure())
            #expect(error.code == .unavailable)
            #expect(ContinuousClock.now - start >= .milliseconds(250))
        }
    }

    @Test func `the deadline includes the wait for a connection`() async throws {
        try await MailServer.run(client: { ($0.timeout, $0.maxConnections) = (.milliseconds(500), 1) }) { server in
            server.fault(.hang, at: .recipient, count: nil)
            let errors = await withTaskGroup { group in
                for number in 0..<3 { group.addTask { await server.client.failure(.sample(id: "m\(number)")) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(errors.map { $0?.code } == [.unavailable, .unavailable, .unavailable])
            #expect(await server.emulator.mails().isEmpty)
        }
    }

    @Test func `a cancelled task gets its answer at once`() async throws {
        try await MailServer.run { server in
            server.fault(.hang, at: .recipient)
            let task = Task { await server.client.failure() }
            try await eventually("the server has a connection") { server.emulator.statistics.openMailConnections == 1 }
            task.cancel()
            let error = await task.value
            #expect(error?.code == .unavailable && error?.message == "the task was cancelled")
            try await eventually("the connection is given up") { server.emulator.statistics.openMailConnections == 0 }
        }
    }

    @Test func `a task that is cancelled before does not send`() async throws {
        try await MailServer.run { server in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await server.client.failure()
            }
            #expect(await task.value?.message == "the task was cancelled")
            try await server.client.send(.sample(id: "m2"))
            #expect(await server.emulator.mails().count == 1)
        }
    }

    @Test func `mails beyond the queue are refused`() async throws {
        try await MailServer.run(client: { ($0.maxConnections, $0.maxQueuedMails) = (1, 1) }) { server in
            server.fault(.hang, at: .recipient)
            let first = Task { await server.client.failure(.sample(id: "m1")) }
            try await eventually("the first mail is on its way") { server.emulator.statistics.openMailConnections == 1 }
            let refused = await withTaskGroup { group in
                for number in 0..<2 { group.addTask { await server.client.failure(.sample(id: "n\(number)")) } }
                // The other one waits until it is cancelled.
                defer { group.cancelAll() }
                return await group.next()
            }
            #expect(refused??.message == "too many mails wait to be sent")
            first.cancel()
            _ = await first.value
        }
    }

    @Test func `a client that is closed gives up what is in progress and refuses what comes`() async throws {
        try await MailServer.run { server in
            server.fault(.hang, at: .data)
            let task = Task { await server.client.failure() }
            try await eventually("the server has a connection") { server.emulator.statistics.openMailConnections == 1 }
            await server.client.close()
            #expect(await task.value?.code == .unavailable)
            #expect(await server.client.failure()?.message == "the mail client was shut down")
        }
    }
}
