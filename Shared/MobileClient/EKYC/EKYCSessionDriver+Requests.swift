internal import Foundation

extension EKYCSessionDriver {
    func post() -> Work {
        guard let record, let body else { return Self.refusal(HeliographError(.storage, "The photos are not kept")) }
        let bearer: APIRequest<EKYCRequests.Started>.Bearer
        switch record.sender {
        case .account: bearer = .account
        case .form: bearer = .none
        case .enrolment:
            guard let token = secret.enrolmentToken else {
                return Self.refusal(HeliographError(.unauthorized, "The enrolment token is not kept", status: 401))
            }
            bearer = .token(token)
        }
        let upload = EKYCRequests.upload(kind, body, boundary: record.boundary, bearer: bearer, key: id)
        return { [sender = ports.sender] in
            do throws(HeliographError) {
                let started = try await sender.send(upload)
                return .accepted(sessionID: started.sessionID, token: started.token)
            } catch {
                return .postFailed(Machine.Fault(error))
            }
        }
    }

    private static func refusal(_ error: HeliographError) -> Work { { .postFailed(Machine.Fault(error)) } }

    func ask(_ wait: Int) -> Work {
        { [sender = ports.sender, session = secret.session] in
            do throws(HeliographError) {
                let session = try Self.credential(session)
                return .answered(try await sender.send(EKYCRequests.status(session.id, token: session.token, wait: wait)))
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
