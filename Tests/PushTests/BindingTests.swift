import FCMEmulator
import FoundationEssentials
import TestSupport
import Testing
import WireFormat

/// A push of one user never reaches a phone that has another user by now.
@Suite struct BindingTests {
    @Test func `phones that change users during a fan-out get no push of the former user`() async throws {
        try await PushSystem.with(running: ["token-registry"]) { system in
            let phones = try await system.crowd(FanOutSize.targets(200))
            let id = try await system.fanOut()
            try await eventually("all are addressed") {
                try await system.states(of: id) == ["pending": phones.count] ? () : nil
            }
            let switched = phones.prefix(40)
            for phone in switched { try await system.signIn(phone.value, try await system.makeUser()) }
            try system.services.start("notifier")
            let states = try await system.settled(id)
            #expect(states["accepted"] == phones.count - switched.count)
            #expect(states["skipped"] == switched.count, "\(states)")
            for phone in switched { #expect(await system.emulator.messages(to: phone.value).isEmpty) }
        }
    }

    @Test func `a late logout does not unbind the phone from its next user`() async throws {
        try await PushSystem.with { system in
            let (first, second) = (try await system.makeUser(), try await system.makeUser())
            let token = system.emulator.mintToken()
            let old = try await system.signIn(token, first)
            try await system.signIn(token, second)
            try await system.signOut(old)
            let id = try await system.push(to: .user(second))
            #expect(try await system.settled(id) == ["accepted": 1])
            let forFirst = try await system.push(to: .user(first))
            #expect(try await system.settled(forFirst) == [:], "the former user has no phone")
            #expect(await system.emulator.messages(to: token).count == 1)
        }
    }

    @Test func `a phone that moves from token to installation id stays one installation`() async throws {
        try await PushSystem.with { system in
            let user = try await system.makeUser()
            let token = system.emulator.mintToken()
            let fid = system.emulator.mintFID(fid: String(token.prefix(22)))
            let before = try await system.signIn(token, user)
            let after = try await system.signIn(fid, user)
            #expect(before.installID == after.installID)
            let id = try await system.push(to: .user(user))
            #expect(try await system.settled(id) == ["accepted": 1])
            #expect(await system.emulator.messages(to: fid).count == 1)
            #expect(await system.emulator.messages(to: token).isEmpty)
        }
    }
}
