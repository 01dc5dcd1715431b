import Foundation
import HTTPClient
import TestSupport
import Testing

/// Tests the photos of an event through the real executables: three photos lead to one rich push, to the other member.
@Suite struct TopicJourneyTests {
    @Test func `photos in quick succession are one rich push to every member except their sender`() async throws {
        let stack = try await Stack.shared()
        let (adasPhone, bensPhone) = (try await Phone.make(stack), try await Phone.make(stack))
        let (ada, ben) = (try await adasPhone.accessToken(), try await bensPhone.accessToken())
        let told = (ada: try await adasPhone.pushes(count: 2).count, ben: try await bensPhone.pushes(count: 2).count)

        let id = "e2e-\(UUID().uuidString)"
        #expect(try await adasPhone.enter("event:\(id)", bearer: ada).status == 200)
        // The answer to the creation of a topic contains the user's own id.
        let bensID = try #require(try await bensPhone.enter("event:own-\(id)", bearer: ben).body["data"]["user_id"].text)
        #expect(try await adasPhone.enter("event:\(id)", bensID, bearer: ada).status == 202)
        let invitation = try await bensPhone.pushes(count: told.ben + 1)[told.ben]
        #expect(invitation["notification"]["title"].text == "Invitation")
        #expect(invitation["notification"]["body"].text == "You have been invited to an event.")
        #expect(invitation["data"]["type"].text == "invitation" && invitation["data"]["topic"].text == "event:\(id)")
        #expect(invitation["apns"]["payload"]["aps"]["interruption-level"].text == "passive")
        #expect(try await bensPhone.enter("event:\(id)", bearer: ben).status == 200)
        for name in Photos.front {
            #expect(try await adasPhone.addPhoto(try Photos.load(name), to: "event:\(id)", bearer: ada).status == 202)
        }

        let push = try await bensPhone.pushes(count: told.ben + 2)[told.ben + 1]
        #expect(push["notification"]["title"].text == "PhotoShare")
        #expect(push["notification"]["body"].text == "New photos added to your event!")
        #expect(push["data"]["action"].text == "new_photos")
        #expect(push["data"]["event_id"].text == id)
        let link = try #require(push["apns"]["fcm_options"]["image"].text)
        #expect(push["data"]["image_url"].text == link)
        let thumbnail = try await bensPhone.fetch(link: link)
        #expect(thumbnail.status == 200 && thumbnail.header("content-type") == "image/jpeg")
        #expect(try await bensPhone.pushes(count: told.ben + 2).count == told.ben + 2)
        #expect(try await adasPhone.pushes(count: told.ada).count == told.ada)
    }
}
