import Accounts
import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

struct SessionPushTests {
    private let pseudonyms = SessionPseudonyms(sessionKey: hash(1))

    private func named(_ session: Session, succeeded: Bool, account: UUID?) -> String? {
        session.resultNotification(succeeded: succeeded, account: account, pseudonyms: pseudonyms).references.accountID?.wireString
    }

    @Test func `a pseudonym is unique to a session, looks like any other id, and depends on the key`() throws {
        let session = UUID()
        let pseudonym = pseudonyms.id(of: session)
        #expect(pseudonym == SessionPseudonyms(sessionKey: hash(1)).id(of: session))
        #expect(pseudonym != pseudonyms.id(of: UUID()))
        #expect(pseudonym != SessionPseudonyms(sessionKey: hash(2)).id(of: session))
        #expect(pseudonym != session)
        #expect(pseudonym.wireString.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
    }

    @Test(.storage) func `the push of a failed session contains no account id`() async throws {
        for event in [EkycEvent.signUp, .signIn] {
            let session = try await sessions.insert(.make(event))
            let pseudonym = pseudonyms.id(of: session.id).wireString
            #expect(named(session, succeeded: false, account: nil) == pseudonym)
            #expect(named(session, succeeded: false, account: session.userID) == pseudonym)
            #expect(named(session, succeeded: true, account: nil) == pseudonym)
            #expect(named(session, succeeded: true, account: session.userID) == session.userID.wireString)
        }
    }

    @Test(.storage) func `the push of a session with a bearer token contains the account id, with any outcome`() async throws {
        var new = NewSession.make(.signUp)
        new.authorised = true
        let session = try await sessions.insert(new)
        #expect(named(session, succeeded: false, account: nil) == session.userID.wireString)
        #expect(named(session, succeeded: true, account: session.userID) == session.userID.wireString)
    }
}
