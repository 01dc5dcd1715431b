import Foundation
import Testing

@testable import MobileClient

/// The bad photos of a failed session, as they are read from the API's answer.
@Suite struct BadPhotoTests {
    private let id = UUID()
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// The failure of an answer that a device gets whose clock shows ``now``, 08:00:00.
    private func failure(_ photos: String, until end: String? = nil, sentAt date: String? = nil) throws -> EKYCSession.Failure? {
        let end = end.map { #","retake_until":"\#($0)""# } ?? ""
        let members = #""session_id":"\#(id.wireText)","state":"failed","reason":"low_quality","photos":\#(photos)\#(end)"#
        var response = TransportResponse.json(#"{"success":true,"code":0,"message":"","data":{\#(members)}}"#)
        response.headers["Date"] = date
        let time = TimeSource(now: { now }, sleep: { _ in })
        let verdict = try EKYCRequests.status(id, token: "t", wait: 0, time: time).decode(response)
        guard case .failed(let failure) = verdict else { return nil }
        return failure
    }

    private static let photo = #"{"field":"left_faces","index":2,"problems":["blurred","too_dark"]}"#

    @Test func `a failure names its bad photos with all their problems, and those that are not known here keep their text`() throws {
        let later = #"{"field":"a_later_field","index":0,"problems":["a_later_problem"],"more":1}"#
        let failure = try #require(try failure("[\(Self.photo),\(later)]"))
        let unknown = EKYCSession.BadPhoto(.init(rawValue: "a_later_field"), 0, [.init(rawValue: "a_later_problem")])
        #expect(failure.photos == [.init(.left, 2, [.blurred, .tooDark]), unknown] && failure.retakeUntil == nil)
        #expect(EKYCSession.Outcome.failed(failure).photosToRetake == nil)
    }

    @Test func `bad photos that are read are bounded, and a list that is cut cannot be retaken`() throws {
        let long = String(repeating: "x", count: 10_000)
        let problems = Array(repeating: "\"\(long)\"", count: 100).joined(separator: ",")
        let photo = #"{"field":"\#(long)","index":0,"problems":[\#(problems)]}"#
        let photos = "[\(Array(repeating: photo, count: 100).joined(separator: ","))]"
        let failure = try #require(try failure(photos, until: "2027-01-15T08:10:00Z"))
        #expect(failure.photos.count == 16 && failure.photos.allSatisfy { $0.field.rawValue.utf8.count == 100 })
        #expect(failure.photos.allSatisfy { $0.problems.count == 16 && $0.problems.allSatisfy { $0.rawValue.utf8.count == 100 } })
        #expect(failure.retakeUntil == nil)
        #expect(try self.failure("[]", until: "2027-01-15T08:10:00Z")?.retakeUntil == nil)
    }

    @Test func `the time for a retake is one of the device's clock`() throws {
        func left(_ end: String, sentAt date: String? = nil) throws -> Double? {
            try failure("[\(Self.photo)]", until: end, sentAt: date)?.retakeUntil?.timeIntervalSince(now)
        }
        #expect(try left("2027-01-15T08:10:00Z") == 600)
        // The device is an hour behind, or ahead.
        #expect(try left("2027-01-15T09:10:00Z", sentAt: "Fri, 15 Jan 2027 09:00:01 GMT") == 599)
        #expect(try left("2027-01-15T07:10:00Z", sentAt: "Fri, 15 Jan 2027 07:00:01 GMT") == 599)
        #expect(try left("2027-01-15T08:00:00Z") == nil)
        #expect(try left("2037-01-15T08:10:00Z") == 3_600)
    }
}
