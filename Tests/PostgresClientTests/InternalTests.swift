import Testing

@testable import PostgresClient

@Suite("Statement cache")
struct StatementCacheTests {
    private func key(_ sql: String, _ types: [UInt32] = []) -> PreparedStatement.Key {
        PreparedStatement.Key(sql: sql, types: types)
    }

    @Test func `the least recently used statement is evicted`() {
        var cache = StatementCache(capacity: 2)
        let first = cache.insert(key("a")).added
        _ = cache.insert(key("b"))
        #expect(cache.find(key("a")) === first)
        let (_, evicted) = cache.insert(key("c"))
        #expect(evicted?.key.sql == "b")
        #expect(cache.find(key("b")) == nil)
        #expect(cache.find(key("a")) === first)
        #expect(cache.count == 2)
    }

    @Test func `the same text with other types is another statement`() {
        var cache = StatementCache(capacity: 8)
        let one = cache.insert(key("a", [20])).added
        let other = cache.insert(key("a", [25])).added
        #expect(one.name != other.name)
        #expect(cache.find(key("a", [20])) === one)
    }

    @Test func `removing an old statement keeps the one prepared anew`() {
        var cache = StatementCache(capacity: 8)
        let old = cache.insert(key("a")).added
        cache.remove(old)
        let new = cache.insert(key("a")).added
        cache.remove(old)
        #expect(cache.find(key("a")) === new)
        #expect(new.name != old.name)
    }
}

@Suite("Connect backoff")
struct ConnectBackoffTests {
    @Test func `the pause doubles up to its limit, and a success resets it`() {
        var configuration = PostgresConfiguration(url: "")
        configuration.reconnectDelay = .milliseconds(10)
        configuration.maxReconnectDelay = .milliseconds(80)
        var backoff = ConnectBackoff(configuration)
        for expected: UInt64 in [10, 20, 40, 80, 80, 80] {
            backoff.failed(now: 1_000_000_000)
            let pause = backoff.nextAttempt - 1_000_000_000
            #expect(pause >= expected * 500_000 && pause <= expected * 1_000_000)
        }
        for _ in 0..<100 { backoff.failed(now: 0) }
        #expect(backoff.nextAttempt <= 80_000_000)
        backoff.succeeded()
        #expect(backoff.nextAttempt == 0)
    }
}

@Suite("Event loop")
struct EventLoopTests {
    @Test func `tasks that prefer the loop run on its thread, and return to it`() async throws {
        let loop = try EventLoop(name: "test-loop")
        let isOnLoop = await Task(executorPreference: loop) {
            let before = loop.isCurrent
            await Task.yield()
            let elsewhere = await Task.detached { loop.isCurrent }.value
            return (before, elsewhere, loop.isCurrent)
        }.value
        #expect(isOnLoop == (true, false, true))
    }

    @Test func `work of many threads runs, each in the order of its thread`() async throws {
        actor Log {
            let loop: EventLoop
            var last = [Int](repeating: -1, count: 8)
            var isOrdered = true
            nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

            init(_ loop: EventLoop) { self.loop = loop }

            func note(_ source: Int, _ number: Int) {
                if number != last[source] + 1 { isOrdered = false }
                last[source] = number
            }

            nonisolated func enqueue(_ source: Int, _ number: Int) {
                loop.execute { self.assumeIsolated { $0.note(source, number) } }
            }
        }
        let log = Log(try EventLoop(name: "test-loop"))
        await withTaskGroup(of: Void.self) { group in
            for source in 0..<8 {
                group.addTask { for number in 0..<2000 { log.enqueue(source, number) } }
            }
        }
        #expect(await log.isOrdered)
        #expect(await log.last == [Int](repeating: 1999, count: 8))
    }
}

@Suite("Migration checksums")
struct MigrationChecksumTests {
    @Test func `every edit of the SQL changes the checksum, and nothing else does`() {
        func checksum(_ up: String, _ down: String, name: String = "n") -> String {
            Migration(number: 1, name: name, up: up, down: down).checksum
        }
        #expect(checksum("a", "b") == checksum("a", "b", name: "renamed"))
        #expect(checksum("a", "b") != checksum("a ", "b"))
        #expect(checksum("ab", "") != checksum("a", "b"))
        #expect(checksum("", "").utf8.count == 16)
    }
}
