internal import Foundation

extension EKYCSessionDriver {
    func post() async -> Machine.Event {
        guard let record, let body else {
            return .postFailed(Machine.Fault(HeliographError(.storage, "The photos are not kept")))
        }
        let bearer: APIRequest<EKYCRequests.Started>.Bearer
        switch record.sender {
        case .account: bearer = .account
        case .form: bearer = .none
        case .enrolment:
            guard let token = secret.enrolmentToken else {
                return .postFailed(Machine.Fault(HeliographError(.unauthorized, "The enrolment token is not kept", status: 401)))
            }
            bearer = .token(token)
        }
        do throws(HeliographError) {
            let started = try await ports.sender.send(
                EKYCRequests.upload(kind, body, boundary: record.boundary, bearer: bearer, key: id))
            return .accepted(sessionID: started.sessionID, token: started.token)
        } catch {
            return .postFailed(Machine.Fault(error))
        }
    }

    func ask(_ wait: Int) async -> Machine.Event {
        do throws(HeliographError) {
            let session = try credential()
            return .answered(try await ports.sender.send(EKYCRequests.status(session.id, token: session.token, wait: wait)))
        } catch {
            return .askFailed(Machine.Fault(error))
        }
    }

    func redeem() async -> Machine.Event {
        do throws(HeliographError) {
            let session = try credential()
            return .redeemed(try await ports.sender.send(EKYCRequests.redeem(session.id, token: session.token)))
        } catch {
            var isSignedIn = false
            if case .signingIn(_, let userID) = record?.phase { isSignedIn = await ports.isSignedIn(userID) }
            return .redeemFailed(Machine.Fault(error), age, isSignedIn: isSignedIn)
        }
    }

    /// The session with its token.
    ///
    /// - Throws: `unauthorized`, as the API would say, when the token is lost.
    private func credential() throws(HeliographError) -> EKYCSecret.Session {
        guard let session = secret.session else { throw HeliographError(.unauthorized, "The session's token is not kept") }
        return session
    }
}
