import Accounts
import Foundation
import PostgresClient
import Schema
import TestSupport
import Topics
import WireFormat

extension RaceCase {
    /// Races of consent to topics.
    static let topics: [RaceCase] = [
        RaceCase(
            "a contact is added to a topic / the inviter is blocked", (.identityAPI, "FROM user_blocks WHERE user_id"),
            (.identityAPI, "given WHERE")
        ) { world in
            let topic = try await world.topicOfContact()
            let block: Race.Transaction = { client in
                try await client.withTransaction { try await PeopleListRepository(.blocks, $0).add(topic.owner, for: topic.invited) }
            }
            return Race(topic.addition, block) { $0.isOvertaken(0) }
        },
        RaceCase(
            "a contact is added to a topic / the contact is taken back", (.identityAPI, "FROM user_contacts WHERE user_id"),
            (.identityAPI, "DELETE FROM user_contacts")
        ) { world in
            let topic = try await world.topicOfContact()
            let takeBack: Race.Transaction = { client in
                try await client.withTransaction { try await PeopleListRepository(.contacts, $0).remove(topic.owner, for: topic.invited) }
                return true
            }
            return Race(topic.addition, takeBack) { $0.isOvertaken(0) }
        },
        RaceCase(
            "an invitation is accepted / it is withdrawn", (.identityAPI, "SELECT inviter_id FROM topic_invitations"),
            (.identityAPI, "SELECT user_id FROM topic_members")
        ) { world in
            let (owner, guest) = (try await world.account(try world.newEmail()), try await world.account(try world.newEmail()))
            let name = try await world.topic(of: owner)
            _ = try await world.owner.withTransaction { try await TopicRepository($0).add(guest, to: name, by: owner) }
            let withdraw: Race.Transaction = { client in
                try await client.withTransaction { try await TopicRepository($0).remove(guest, from: name, by: owner) }
                    == .done(changed: true)
            }
            return Race(world.addition(of: guest, to: name, by: guest), withdraw) { $0.isOvertaken(0) }
        },
    ]
}

extension RaceWorld {
    /// A topic of a user whom another one has among the contacts, and the addition of that one.
    fileprivate func topicOfContact() async throws -> (owner: UUID, invited: UUID, addition: Race.Transaction) {
        let (owner, invited) = (try await account(try newEmail()), try await account(try newEmail()))
        let name = try await topic(of: owner)
        _ = try await self.owner.withTransaction { try await PeopleListRepository(.contacts, $0).add(owner, for: invited) }
        return (owner, invited, addition(of: invited, to: name, by: owner))
    }

    fileprivate func topic(of owner: UUID) async throws -> TopicName {
        guard let name = TopicName("event:race-\(UUID().uuidString.lowercased())") else { throw DeadlineExceeded(description: "no name") }
        _ = try await self.owner.withTransaction { try await TopicRepository($0).add(owner, to: name, by: owner) }
        return name
    }

    /// Makes a user a member at once.
    fileprivate func addition(of user: UUID, to name: TopicName, by actor: UUID) -> Race.Transaction {
        { client in
            try await client.withTransaction { try await TopicRepository($0).add(user, to: name, by: actor) } == .done(changed: true)
        }
    }
}
