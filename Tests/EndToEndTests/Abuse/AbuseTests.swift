import Foundation
import TestSupport
import Testing

/// Makes the attacks that a review found, from many addresses, on the real executables, and holds what the owner of an account notices to
/// a bar. See ``AbuseScale`` for the two forms.
@Suite(.serialized) struct AbuseTests {
    /// N1: the queue of examinations is served by client address, and what an address costs is limited.
    @Test func `uploads of the worst pictures from many addresses delay neither sign-ups nor known phones`() async throws {
        let scale = AbuseScale.current
        let pictures = try await WorstPictures.make(pixels: scale.pixels)
        print("abuse: worst pictures: \(pictures.summary)")
        let stack = try await scale.stack()
        let owner = try await HonestOwner.make(stack)
        let calmUps = try await HonestOwner.times(isCalm: true) { try await HonestOwner.signUp(stack) }
        let calmIns = try await HonestOwner.times(isCalm: true) { try await owner.signIn() }
        let attack = AbuseAttack(stack, number: 1, to: "/api/v1/ekyc/upload-photos") { phone in
            RepeatedForm.worst(pictures, for: phone, isSignUp: true)
        }
        let (times, statuses) = try await attack.during {
            let ups = try await HonestOwner.times(isCalm: false) { try await HonestOwner.signUp(stack) }
            return (ups, try await HonestOwner.times(isCalm: false) { try await owner.signIn() })
        }
        let report = AbuseReport(attack: "N1 costly sign-ups (\(statuses))")
        report.note("a sign-up is decided", times.0, calm: calmUps, most: 3)
        report.note("a known phone signs in", times.1, calm: calmIns, most: 2)
    }

    /// N1 by sign-ins, which go before sign-ups.
    @Test func `sign-ins of the worst pictures from many addresses delay no known phone`() async throws {
        let scale = AbuseScale.current
        let pictures = try await WorstPictures.make(pixels: scale.pixels)
        let stack = try await scale.stack()
        let owner = try await HonestOwner.make(stack)
        let calm = try await HonestOwner.times(isCalm: true) { try await owner.signIn() }
        let attack = AbuseAttack(stack, number: 2, to: "/api/v1/ekyc/login") { phone in
            RepeatedForm.worst(pictures, for: phone, isSignUp: false)
        }
        let (times, statuses) = try await attack.during { try await HonestOwner.times(isCalm: false) { try await owner.signIn() } }
        AbuseReport(attack: "N1 costly sign-ins (\(statuses))").note("a known phone signs in", times, calm: calm, most: 2)
    }

    /// N4: refusals that compared no face do not close sign-in to new phones.
    @Test func `faceless sign-ins from many addresses do not stop the new phone of an owner`() async throws {
        let stack = try await AbuseScale.current.stack()
        let owner = try await HonestOwner.make(stack)
        let photo = try Photos.load("cases/no-face")
        let attack = AbuseAttack(stack, number: 4) { phone in
            let photos = (0..<3).map { _ in WorstPictures.variant(of: photo) }
            let email = "junk-\(UUID().uuidString)@example.org"
            return try await phone.withInventedToken().signIn(email: email, photos: photos).status
        }
        let statuses = try await attack.send(each: AbuseScale.current.isShort ? 4 : 300)
        try await HonestOwner.forgetPhotos(stack)
        let state = try await owner.signInAsIs(on: try await Phone.make(stack).at("203.0.113.44"))
        AbuseReport(attack: "N4 faceless sign-ins with many e-mails (\(statuses))")
            .note("the owner signs in on a new phone", state, bar: "succeeded", holds: state == "succeeded")
    }

    /// N8: neither photos without a face nor other faces close an account to its owner.
    @Test func `failing sign-ins with one e-mail do not lock the new phone of its owner out`() async throws {
        let stack = try await AbuseScale.current.stack()
        let owner = try await HonestOwner.make(stack)
        let photo = try Photos.load("cases/no-face")
        let faceless = AbuseAttack(stack, number: 8) { phone in
            let photos = (0..<3).map { _ in WorstPictures.variant(of: photo) }
            return try await phone.withInventedToken().signIn(email: owner.email, photos: photos).status
        }
        // While sign-ins of strangers are not decided they hold up new phones that prove nothing: the owner proves the e-mail.
        let (meanwhile, statuses) = try await faceless.during {
            let phone = try await Phone.make(stack).at("203.0.113.48")
            let token = try await phone.proof(of: owner.email)
            try await HonestOwner.forgetPhotos(stack)
            return try await owner.signInAsIs(on: phone, bearer: token)
        }
        AbuseReport(attack: "N8 faceless sign-ins with the owner's e-mail (\(statuses))")
            .note("the owner proves the e-mail, and signs in", meanwhile, bar: "succeeded", holds: meanwhile == "succeeded")
        try await HonestOwner.forgetPhotos(stack)
        let state = try await owner.signInAsIs(on: try await Phone.make(stack).at("203.0.113.45"))
        AbuseReport(attack: "N8 faceless sign-ins with the owner's e-mail, before")
            .note("the owner signs in on a new phone", state, bar: "succeeded", holds: state == "succeeded")
        let others = AbuseAttack(stack, number: 18) { phone in
            try await phone.withInventedToken().signIn(email: owner.email, photos: try Photos.variants(of: Photos.otherFace)).status
        }
        let failed = try await others.send(each: 5)
        try await HonestOwner.forgetPhotos(stack)
        let phone = try await Phone.make(stack).at("203.0.113.46")
        let token = try await phone.proof(of: owner.email)
        let proven = try await owner.signInAsIs(on: phone, bearer: token)
        AbuseReport(attack: "N8 other faces with the owner's e-mail (\(failed))")
            .note("the owner proves the e-mail, and signs in", proven, bar: "succeeded", holds: proven == "succeeded")
    }
}
