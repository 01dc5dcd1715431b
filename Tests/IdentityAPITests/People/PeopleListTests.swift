import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// What blocks and contacts have in common.
@Suite struct PeopleListTests {
    private static func path(_ list: PeopleList) -> String { "/v1/users/me/\(list.rawValue)" }

    @Test(.api, arguments: PeopleList.allCases)
    func `users are listed one by one or all at once, whether their ids exist or not`(list: PeopleList) async throws {
        let (path, ada, ben) = (Self.path(list), try await api.customer("ada"), try await api.customer("ben"))
        for id in [ben.userID, UUID()] {
            for _ in 0..<2 { #expect(try await api.send("PUT", path + "/\(id.wireString)", headers: [ada.bearer]).status == 204) }
        }
        #expect(try await people(on: list, of: ada).count == 2)
        for _ in 0..<2 {
            #expect(try await api.send("DELETE", path + "/\(ben.userID.wireString)", headers: [ada.bearer]).status == 204)
        }
        #expect(try await people(on: list, of: ada).count == 1)
        let others = [UUID(), ben.userID]
        let ids = others.map { "\"\($0)\"" }.joined(separator: ",")
        #expect(try await api.json("PUT", path, "{\"user_ids\":[\(ids)]}", by: ada).status == 200)
        #expect(try await people(on: list, of: ada) == Set(others.map(\.wireString)))
        #expect(try await people(on: list, of: ben).isEmpty)
        for other in PeopleList.allCases where other != list { #expect(try await people(on: other, of: ada).isEmpty) }
    }

    @Test(.api, arguments: PeopleList.allCases)
    func `an id whose digits are signs names no user, in a path and in a body`(list: PeopleList) async throws {
        let (path, ada) = (Self.path(list), try await api.customer())
        let signed = "+a95f3a0-1b2c-7d3e-8f40-5162738495a6"
        let answer = try await api.send("PUT", path + "/\(signed)", headers: [ada.bearer])
        #expect(answer.refusal == "400 invalid_request user_id")
        #expect(try await api.json("PUT", path, "{\"user_ids\":[\"\(signed)\"]}", by: ada).refusal == "400 invalid_request user_ids")
        #expect(try await people(on: list, of: ada).isEmpty)
    }

    @Test(.api, arguments: PeopleList.allCases)
    func `the number of users on a list is limited, and its user is not among them`(list: PeopleList) async throws {
        let (path, ada) = (Self.path(list), try await api.customer())
        let herself = try await api.send("PUT", path + "/\(ada.userID.wireString)", headers: [ada.bearer])
        #expect(herself.refusal == "400 invalid_request user_id")
        let few = (1..<PeopleList.maxCount).map { _ in "\"\(UUID())\"" }.joined(separator: ",")
        #expect(try await api.json("PUT", path, "{\"user_ids\":[\(few)]}", by: ada).status == 200)
        let answers = try await race(4) { _ in try await api.send("PUT", path + "/\(UUID().wireString)", headers: [ada.bearer]) }
        #expect(answers.count { $0.status == 204 } == 1 && answers.count { $0.refusal == "409 limit_reached" } == 3)
        let many = (0...PeopleList.maxCount).map { _ in "\"\(UUID())\"" }.joined(separator: ",")
        #expect(try await api.json("PUT", path, "{\"user_ids\":[\(many)]}", by: ada).refusal == "400 invalid_request user_ids")
    }

    private func people(on list: PeopleList, of user: Customer) async throws -> Set<String> {
        let json = try await api.send("GET", Self.path(list), headers: [user.bearer]).json
        return Set(json.value("data.\(list.rawValue)")?.elements?.compactMap { $0["user_id"]?.string } ?? [])
    }
}
