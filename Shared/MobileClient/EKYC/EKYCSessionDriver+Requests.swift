internal import Foundation

extension EKYCSessionDriver {
    func post() -> Work {
        guard let record, let body else { return Self.refusal(HeliographError(.storage, "The photos are not kept")) }
        let bearer: APIRequest<EKYCRequests.Started>.Bearer
        switch record.sender {
        case .account: bearer = .account
        case .form: bearer = .none
        case .enrolment:
            guard let token = secret.enrolmentToken else { return Self.refusal(Self.lost("The enrolment token")) }
            bearer = .token(token)
        }
        let retakenToken = secret.retaken?.token
        if record.retakes != nil, retakenToken == nil { return Self.refusal(Self.lost("The token of the failed session")) }
        let upload = EKYCRequests.upload(
            kind, body, boundary: record.boundary, bearer: bearer, key: id, retakenToken: retakenToken)
        return { [sender = ports.sender] in
            do throws(HeliographError) {
                let started = try await sender.send(upload)
                return .accepted(sessionID: started.sessionID, token: started.token)
            } catch {
                return .postFailed(Machine.Fault(error))
            }
        }
    }

    private static func lost(_ secret: String) -> HeliographError {
        HeliographError(.unauthorized, "\(secret) is not kept", status: 401)
    }

    private static func refusal(_ error: HeliographError) -> Work { { .postFailed(Machine.Fault(error)) } }

    func ask(_ wait: Int) -> Work {
        { [ports, session = secret.session] in
            do throws(HeliographError) {
                let session = try Self.credential(session)
                let request = EKYCRequests.status(session.id, token: session.token, wait: wait, time: ports.time)
                return .answered(try await ports.sender.send(request))
            } catch {
                return .askFailed(Machine.Fault(error))
            }
        }
    }

    func redeem(_ code: String?) -> Work {
        { [ports, createdAt, session = secret.session, phase = record?.phase] in
            do throws(HeliographError) {
                let session = try Self.credential(session)
                return .redeemed(try await ports.sender.send(EKYCRequests.redeem(session.id, token: session.token, code: code)))
            } catch {
                var isSignedIn = false
                if case .signingIn(_, let userID) = phase { isSignedIn = await ports.isSignedIn(userID) }
                return .redeemFailed(Machine.Fault(error), Self.age(since: createdAt, ports.time), isSignedIn: isSignedIn)
            }
        }
    }

    /// The session with its token.
    ///
    /// - Throws: `unauthorized`, as the API would say, when the token is lost.
    private static func credential(_ session: EKYCSecret.Session?) throws(HeliographError) -> EKYCSecret.Session {
        guard let session else { throw HeliographError(.unauthorized, "The session's token is not kept") }
        return session
    }
}
