import Foundation
import Testing

@testable import MobileClient

/// A store of credentials that cannot be read or changed.
@Suite struct RegistrarStorageTests {
    private let bench: RegistrarBench

    init() throws { bench = try RegistrarBench() }

    @Test(arguments: [MemorySignIns.Fault.locked, .unchangeable])
    func `a sign-out that leaves the credential in use is an error, and its repetition is a sign-out`(
        fault: MemorySignIns.Fault
    ) async throws {
        let registrar = await bench.registered()
        await bench.signIns.setFault(fault)
        let error = await #expect(throws: HeliographError.self) { try await registrar.signOut() }
        #expect(error?.code == .storage)
        #expect(await registrar.runner().state.signIn == "s1")
        #expect(await bench.signIns.current == "s1")
        #expect(await bench.signIns.log.isEmpty)
        #expect(RegistrationFile(url: bench.file).load() != nil)
        await bench.signIns.setFault(nil)
        #expect(try await registrar.signOut())
        #expect(await bench.hasFirstEnded)
    }

    @Test func `a sign-in whose sign-out has failed is not ended by the next process`() async throws {
        let registrar = await bench.registered()
        await bench.signIns.setFault(.unchangeable)
        await #expect(throws: HeliographError.self) { try await registrar.signOut() }
        await bench.signIns.setFault(nil)
        #expect(await bench.signIns.retired == ["s1"])
        let next = bench.process()
        await next.start()
        await next.tokenChanged("t2")
        await until { await bench.devices.server.holder == .init(token: "t2", signIn: "s1") }
        #expect(await bench.signIns.log.isEmpty)
    }

    @Test func `a store that cannot be read puts no registration in doubt`() async throws {
        _ = await bench.registered()
        let count = await bench.devices.requests.count
        await bench.signIns.setFault(.locked)
        let next = bench.process()
        await next.start()
        await next.tokenChanged("t1")
        #expect(RegistrationFile(url: bench.file).load()?.signIn == "s1")
        await bench.signIns.setFault(nil)
        await next.becameActive()
        #expect(await next.runner().state.signIn == "s1")
        #expect(await bench.devices.requests.count == count)
    }

    @Test func `a sign-out without a sign-in says whether the API knows of the one before`() async throws {
        let registrar = await bench.registered()
        await bench.devices.failLogOuts(of: "s1")
        #expect(try await !registrar.signOut())
        let next = bench.process()
        #expect(try await !next.signOut())
    }
}
