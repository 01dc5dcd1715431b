import Foundation
import TestSupport
import Testing

extension AbuseTests {
    /// N3 and N16: what strangers send of the owner neither counts against the owner nor opens the account.
    @Test func `copies of the owner's photos that strangers send do not make the owner's photos replays`() async throws {
        let stack = try await AbuseScale.current.stack()
        let (owner, newcomer, other) = (
            try await HonestOwner.make(stack), try await HonestOwner.make(stack), try await HonestOwner.make(stack)
        )
        try await HonestOwner.forgetPhotos(stack)
        let (copies, face) = (try await Self.copies(["resize", "0.97"]), try Photos.load(Photos.otherFace[0]))
        let attack = AbuseAttack(stack, number: 3) { phone in
            var status = 0
            for email in [owner, newcomer, other].map(\.email) {
                let photos = [copies[0], copies[1], face].map { WorstPictures.variant(of: $0) }
                status = max(status, try await phone.signIn(email: email, photos: photos).status)
            }
            return status
        }
        let statuses = try await attack.send(each: 2)
        // All of them are decided before the owner comes.
        try await eventually("the strangers' sign-ins are decided") {
            try await stack.database.psql("SELECT count(*) FROM sessions WHERE state IN ('received', 'processing')") == "0"
        }
        let state = try await owner.signInAsIs(on: owner.phone)
        AbuseReport(attack: "N3 refused photos of the owner (\(statuses))")
            .note("the owner signs in on the known phone", state, bar: "succeeded", holds: state == "succeeded")
        // Shows that the photos are there: without a proof they count against a new phone.
        let refused = try await other.signInAsIs(on: try await Phone.make(stack).at("203.0.113.49"))
        #expect(refused == "replayed_image")
        let phone = try await Phone.make(stack).at("203.0.113.47")
        let proven = try await newcomer.signInAsIs(on: phone, bearer: phone.proof(of: newcomer.email))
        AbuseReport(attack: "N3 refused photos of the owner")
            .note("the owner proves the e-mail, and signs in", proven, bar: "succeeded", holds: proven == "succeeded")
        let mirrored = try await Self.copies(["flip", "horizontal"])
        let stranger = try await Phone.make(stack).at(AbuseScale.current.addresses(of: 16)[0])
        let login = try await stranger.signIn(email: owner.email, photos: mirrored)
        let reason = try await stranger.outcome(of: login)["reason"].text ?? "succeeded"
        let report = AbuseReport(attack: "N16 mirrored photos of the owner's sign-in")
        let isReplay = reason == "replayed_image"
        report.note("a stranger signs in", reason, bar: "replayed_image", holds: isReplay)
    }

    /// Changes the photos of the owner's sign-in by an operation of vips.
    private static func copies(_ operation: [String]) async throws -> [[UInt8]] {
        let folder = try TemporaryDirectory()
        var copies: [[UInt8]] = []
        for (number, name) in Photos.sameFace.enumerated() {
            let file = "\(folder.path)/\(number).jpg"
            let source = try PackageRoot.file(".cache/photos/\(name).jpg")
            try await CommandLineTool.run(["vips", operation[0], source, file] + operation.dropFirst())
            copies.append([UInt8](try Data(contentsOf: URL(fileURLWithPath: file))))
        }
        return copies
    }

    /// N9: the queue of pictures is served by account.
    @Test func `twenty large pictures of one account do not delay the picture of another one`() async throws {
        let scale = AbuseScale.current
        let stack = try await scale.stack()
        let (owner, hog) = (try await HonestOwner.make(stack), try await HonestOwner.make(stack))
        // By another account, whose share these pictures use up.
        let other = try await HonestOwner.make(stack)
        let calm = try await HonestOwner.times(isCalm: true) { try await other.picture() }
        let photo = try Photos.load(Photos.front[1])
        let options = #"{"width":\#(scale.side),"height":\#(scale.side),"quality":"high"}"#
        var accepted: [String] = []
        for _ in 0..<(scale.isShort ? 4 : 20) {
            let answer = try await hog.phone.submit(photo, template: "pencil-sketch", options: options, bearer: hog.accessToken)
            if answer.status == 202 { accepted.append(answer.jobID) }
        }
        let start = ContinuousClock.now
        let isDone = try await owner.picture()
        let time = Times([isDone ? (ContinuousClock.now - start) / .milliseconds(1) : .infinity])
        AbuseReport(attack: "N9 \(accepted.count) pictures of \(scale.side) × \(scale.side) of one account")
            .note("a picture of another account is ready", time, calm: calm, most: 3)
        for id in accepted { _ = try await hog.phone.send("DELETE", "/v1/images/jobs/\(id)", bearer: hog.accessToken) }
    }
}
