import Foundation
import Testing

@testable import MobileClient

@Suite struct RegistrarSignOutTests {
    private let bench: RegistrarBench

    init() throws { bench = try RegistrarBench() }

    @Test func `a sign-out retires the credential, ends the sign-in with it, and discards it`() async throws {
        let registrar = await bench.registered()
        #expect(try await registrar.signOut())
        #expect(await bench.signIns.log == ["retire s1", "log out s1", "discard s1"])
        #expect(await bench.hasFirstEnded)
        #expect(bench.folder.files.isEmpty)
    }

    @Test func `a sign-out without a sign-in is one at once`() async throws {
        #expect(try await bench.process().signOut())
        #expect(await bench.signIns.log.isEmpty)
    }

    @Test func `a sign-out without an answer returns after five seconds, and is repeated`() async throws {
        let registrar = await bench.registered()
        await bench.devices.hold()
        let (isReturned, isEndedAtOnce) = (Locked(false), Locked(false))
        let signOut = Task {
            let hasEnded = try await registrar.signOut()
            isEndedAtOnce.withLock { $0 = hasEnded }
            isReturned.withLock { $0 = true }
        }
        await until { await bench.devices.heldRequests == 1 }
        await bench.time.waitForSleepers()
        bench.time.advance(by: .seconds(5))
        await until { isReturned.withLock { $0 } }
        #expect(!isEndedAtOnce.withLock { $0 })
        #expect(await bench.signIns.current == nil)
        #expect(await bench.signIns.retired == ["s1"])
        await bench.devices.fail(HeliographError(.timedOut, "too long"))
        await bench.devices.release()
        await bench.eventually { await bench.hasFirstEnded }
        try await signOut.value
    }

    @Test func `a sign-in whose logout always fails does not keep another from its own`() async throws {
        let registrar = await bench.registered()
        await bench.devices.failLogOuts(of: "s2")
        await bench.devices.fail(HeliographError(.unreachable, "there is no network"))
        #expect(try await !registrar.signOut())
        await bench.devices.hold()
        await bench.signIn("s2", user: "ben", registrar)
        async let isLeft = registrar.signOut()
        await until { await bench.signIns.retired == ["s1", "s2"] }
        await bench.devices.release()
        let hasLeft = try await isLeft
        #expect(!hasLeft)
        await bench.eventually { await bench.signIns.retired == ["s2"] }
        #expect(await !bench.devices.server.isAlive("s1"))
    }

    @Test func `a sign-out without a network does not wait, and is repeated when there is one`() async throws {
        let registrar = await bench.registered()
        await registrar.networkChanged(isOnline: false)
        await bench.devices.fail(HeliographError(.unreachable, "there is no network"))
        #expect(try await !registrar.signOut())
        #expect(await bench.signIns.current == nil)
        await registrar.networkChanged(isOnline: true)
        await until { await bench.hasFirstEnded }
    }

    @Test func `the next process repeats a sign-out of which the API does not know`() async throws {
        let registrar = await bench.registered()
        await bench.devices.fail(HeliographError(.overloaded, "later", status: 503))
        #expect(try await !registrar.signOut())
        let next = bench.process()
        await next.start()
        await until { await bench.hasFirstEnded }
        withExtendedLifetime(next) {}
    }

    @Test func `a sign-in that has ended is one that was left`() async throws {
        let registrar = await bench.registered()
        await bench.devices.fail(HeliographError(.unauthorized, "it has ended", status: 401))
        #expect(try await registrar.signOut())
        #expect(await bench.signIns.retired.isEmpty)
    }

    @Test func `a credential is kept while a logout is refused`() async throws {
        let registrar = await bench.registered()
        await bench.devices.fail(HeliographError(.forbidden, "not now", status: 403))
        #expect(try await !registrar.signOut())
        #expect(await bench.signIns.retired == ["s1"])
        await bench.eventually { await bench.hasFirstEnded }
    }

    @Test func `no more than four credentials are kept for logouts, and the oldest is given up`() async throws {
        let registrar = bench.process()
        for number in 1...6 {
            await bench.signIn("s\(number)", user: "\(number)", registrar)
            await bench.devices.fail(HeliographError(.unreachable, "there is no network"))
            #expect(try await !registrar.signOut())
        }
        #expect(await bench.signIns.retired == ["s3", "s4", "s5", "s6"])
        await bench.eventually { await bench.signIns.retired.isEmpty }
    }

    @Test func `two sign-outs at a time are one`() async throws {
        let registrar = await bench.registered()
        async let first = registrar.signOut()
        async let second = registrar.signOut()
        let results = try await [first, second]
        #expect(results == [true, true])
        #expect(await bench.signIns.log.filter { $0 == "log out s1" }.count == 1)
    }
}
