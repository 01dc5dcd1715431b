import NIOCore
import NIOEmbedded
import Testing

@testable import IdentityAPI

@Suite struct OpenConnectionTests {
    /// A connection and its place among the open ones; nil when it was refused.
    private struct Client {
        let channel = EmbeddedChannel()
        let place: OpenConnection?

        init(_ address: String, _ connections: OpenConnections) throws {
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
            place = connections.open(channel, from: try #require(IPAddress(address)))
        }

        var isOpen: Bool {
            channel.embeddedEventLoop.run()
            return channel.isActive
        }
    }

    @Test func `an address that has its share is refused, and gets it back`() throws {
        let connections = OpenConnections(perAddress: 2, total: 9)
        let clients = try (0..<3).map { _ in try Client("192.0.2.1", connections) }
        #expect(clients.map { $0.place != nil } == [true, true, false])
        clients[0].channel.close(promise: nil)
        clients[0].channel.embeddedEventLoop.run()
        #expect(try Client("192.0.2.1", connections).place != nil)
        #expect(connections.count == 2)
    }

    @Test func `four addresses that hold all connections give the one up to a fifth that has been idle for longest`() throws {
        let connections = OpenConnections(perAddress: 1_024, total: 4_096)
        let addresses = (1...4).map { "192.0.2.\($0)" }
        var held: [Client] = []
        for address in addresses { for _ in 0..<1_024 { held.append(try Client(address, connections)) } }
        #expect(connections.count == 4_096)
        let honest = try Client("198.51.100.1", connections)
        #expect(honest.place != nil && honest.isOpen)
        #expect(held.count { !$0.isOpen } == 1)
        #expect(connections.count == 4_096)
    }

    @Test func `of the sender with the most connections one without a request is closed`() throws {
        let connections = OpenConnections(perAddress: 9, total: 3)
        let few = try Client("192.0.2.1", connections)
        let many = try (0..<2).map { _ in try Client("192.0.2.2", connections) }
        many[0].place?.began()
        let honest = try Client("198.51.100.1", connections)
        #expect(honest.place != nil && few.isOpen && many[0].isOpen && !many[1].isOpen)
        many[0].place?.ended()
    }

    @Test func `a connection that its client has closed makes no room for another one`() throws {
        let connections = OpenConnections(perAddress: 9, total: 3)
        let many = try (0..<3).map { _ in try Client("192.0.2.2", connections) }
        many[0].channel.close(promise: nil)
        many[0].channel.embeddedEventLoop.run()
        let others = try (1...2).map { try Client("198.51.100.\($0)", connections) }
        #expect(others.allSatisfy { $0.place != nil && $0.isOpen })
        #expect(!many[1].isOpen && many[2].isOpen && connections.count == 3)
    }

    @Test func `a sender keeps its requests while it has an idle connection, however many and old they are`() throws {
        let connections = OpenConnections(perAddress: 1_024, total: 400)
        let busy = try (0..<300).map { _ in try Client("192.0.2.2", connections) }
        for client in busy { client.place?.began() }
        let idle = try (0..<100).map { _ in try Client("192.0.2.2", connections) }
        for client in idle.dropFirst(2) { client.channel.close(promise: nil) }
        for client in idle { client.channel.embeddedEventLoop.run() }
        idle[0].place?.began()
        idle[0].place?.ended()
        let others = try (1...100).map { try Client("198.51.100.\($0)", connections) }
        #expect(others.allSatisfy { $0.place != nil } && busy.allSatisfy(\.isOpen))
        #expect(!idle[0].isOpen && !idle[1].isOpen)
        #expect(try Client("198.51.100.101", connections).place != nil)
        #expect(busy.map(\.isOpen) == [false] + Array(repeating: true, count: 299))
    }

    @Test func `busy connections are closed too, the oldest first, where the sender has no other`() throws {
        let connections = OpenConnections(perAddress: 9, total: 2)
        let many = try (0..<2).map { _ in try Client("192.0.2.2", connections) }
        for client in many { client.place?.began() }
        #expect(try Client("198.51.100.1", connections).place != nil)
        #expect(!many[0].isOpen && many[1].isOpen)
    }

    @Test func `a sender who has the most is refused, and the networks of one organisation are one sender`() throws {
        let connections = OpenConnections(perAddress: 9, total: 3)
        let held = try (1...2).map { try Client("2001:db8:1:\($0)::1", connections) }
        let other = try Client("192.0.2.1", connections)
        #expect(try Client("2001:db8:1:3::1", connections).place == nil)
        #expect(try Client("198.51.100.1", connections).place != nil)
        #expect(other.isOpen && held.count { $0.isOpen } == 1)
    }
}
