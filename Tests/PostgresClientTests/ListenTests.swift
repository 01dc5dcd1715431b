import PostgresClient
import TestSupport
import Testing

@Suite("LISTEN")
struct ListenTests {
    @Test func `a listener receives only committed notifications of its channel`() async throws {
        try await withClient { client in
            var notifications = client.notifications(on: "orders").makeAsyncIterator()
            #expect(await notifications.next()?.kind == .listening)
            try? await client.withTransaction { transaction in
                try await transaction.execute("SELECT pg_notify('orders', 'rolled back')")
                throw CancellationError()
            }
            try await client.execute("SELECT pg_notify('elsewhere', 'not for us')")
            try await client.withTransaction { transaction in
                _ = try await transaction.execute("SELECT pg_notify('orders', \("first"))")
            }
            try await client.execute("SELECT pg_notify('orders', 'second')")
            #expect(await notifications.next()?.payload == "first")
            #expect(await notifications.next()?.payload == "second")
        }
    }

    @Test func `a commit wakes the listeners of its own client, a rollback does not, and neither involves the server`() async throws {
        try await withClient { client in
            let name = try await client.query("SELECT current_database()")[0].decode(0, as: String.self)
            try await withClient(to: PostgresServer.shared().url(database: name)) { other in
                #expect(!client.hasListeners(on: "orders"))
                var here = client.notifications(on: "orders").makeAsyncIterator()
                #expect(await here.next()?.kind == .listening)
                #expect(client.hasListeners(on: "orders"))
                var elsewhere = other.notifications(on: "orders").makeAsyncIterator()
                #expect(await elsewhere.next()?.kind == .listening)
                try? await client.withTransaction { transaction in
                    transaction.wakeListeners(on: "orders")
                    throw CancellationError()
                }
                try await client.withTransaction { transaction in
                    try await transaction.execute("SELECT pg_notify('orders', 'from the server')")
                    transaction.wakeListeners(on: "elsewhere")
                }
                #expect(await here.next()?.payload == "from the server")
                try await client.withTransaction { transaction in
                    try await transaction.execute("CREATE TABLE t (a int)")
                    transaction.wakeListeners(on: "orders")
                }
                #expect(await here.next()?.payload == "")
                try await client.execute("SELECT pg_notify('orders', 'the end')")
                #expect(await elsewhere.next()?.payload == "from the server")
                #expect(await elsewhere.next()?.payload == "the end")
            }
        }
    }

    @Test func `several listeners and channels share one connection`() async throws {
        try await withClient { client in
            let channels = ["a", "b", "Strange \"Name\""]
            var iterators = (channels + channels).map { client.notifications(on: $0).makeAsyncIterator() }
            for index in iterators.indices { #expect(await iterators[index].next()?.kind == .listening) }
            for channel in channels { try await client.execute("SELECT pg_notify(\(channel), 'for ' || \(channel))") }
            for index in iterators.indices {
                #expect(await iterators[index].next()?.payload == "for \(channels[index % channels.count])")
            }
            let listeners = try await client.query(
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()")
            #expect(try listeners[0].decode(0, as: Int.self) == 1)
        }
    }

    @Test func `dropping the last listener closes its connection`() async throws {
        try await withClient { client in
            let channel = "short"
            let (listens, signal) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                for await notification in client.notifications(on: channel) {
                    if notification.kind == .listening { signal.yield() }
                    if notification.payload == "stop" { break }
                }
            }
            for await _ in listens { break }
            let listening: PostgresQuery =
                "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()"
            #expect(try await !client.query(listening).isEmpty)
            try await client.execute("SELECT pg_notify(\(channel), 'stop')")
            await task.value
            try await eventually("the listening connection is closed") { try await client.query(listening).isEmpty }
        }
    }

    @Test func `a listener survives a restart of the server`() async throws {
        let server = try await PostgresServer.start()
        try await withClient(to: server.url()) { client in
            var notifications = client.notifications(on: "orders").makeAsyncIterator()
            #expect(await notifications.next()?.kind == .listening)
            try await server.restart()
            #expect(await notifications.next()?.kind == .listening)
            try await client.execute("SELECT pg_notify('orders', 'after')")
            #expect(await notifications.next()?.payload == "after")
        }
        await server.stop()
    }

    @Test func `shutdown ends the sequence`() async throws {
        try await withClient { client in
            var notifications = client.notifications(on: "orders").makeAsyncIterator()
            _ = await notifications.next()
            await client.shutdown()
            #expect(await notifications.next() == nil)
        }
    }
}
