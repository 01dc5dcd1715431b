import Foundation

@testable import MobileClient

extension PhoneAPI {
    static func answer(_ call: Call, _ state: inout Contents) -> TransportResponse {
        let parts = call.request.url.path.split(separator: "/").map(String.init)
        switch (call.request.method, parts.first == "api" ? parts[2] : parts[1], parts.last ?? "") {
        case ("POST", "ekyc", "login"), ("POST", "ekyc", "upload-photos"): return begin(call, &state)
        case ("POST", "ekyc", "token"): return redeem(call, parts[4], &state)
        case ("GET", "ekyc", let id): return session(call, id, state)
        case ("POST", "auth", "refresh"): return refresh(call, &state)
        default: break
        }
        guard let user = call.user else { return .failure(401, "unauthorized") }
        switch (call.request.method, parts.first == "api" ? parts[2] : parts[1], parts.last ?? "") {
        case ("POST", "auth", "logout"):
            if let signIn = call.signIn { end(signIn, &state) }
            if let installation = call.request.headers["x-firebase-installation-id"] { state.installations[installation] = nil }
            return data("{}")
        case ("POST", "users", "device-token"): return register(call, user, &state)
        case ("PUT", "users", "presence"): return data("{}")
        case ("DELETE", "users", "sessions"), ("DELETE", "users", "me"):
            endSignIns(of: user, &state)
            guard parts.last == "me" else { return TransportResponse(status: 204) }
            return data(#"{"erasure_id":"\#(UUID())","receipt_url":"/v1/users/me/erasure/1","receipt_token":"receipt"}"#, 202)
        case ("POST", "images", "process"): return order(call, user, &state)
        case ("GET", "images", let id): return job(id, user, &state)
        case ("POST", "notifications", "receipts"): return data(#"{"received":1,"counted":1}"#)
        case ("POST", "topics", "read"): return data(#"{"unread":0,"badge":\#(state.badge)}"#)
        default: return .failure(404, "not_found")
        }
    }

    // MARK: Sign-ins

    private static func begin(_ call: Call, _ state: inout Contents) -> TransportResponse {
        if !state.sessions.contains(where: { $0.key == call.key }) {
            let named = call.field("email").flatMap { $0.hasSuffix("@example.org") ? String($0.dropLast("@example.org".count)) : nil }
            let user = named ?? call.user
            let token = "session-token-\(state.sessions.count)-0"
            state.sessions.append(Session(id: UUID(), token: token, user: user, key: call.key, deviceKey: call.deviceKey))
        }
        guard let session = state.sessions.first(where: { $0.key == call.key }) else { return .failure(500, "internal") }
        var answer = data(#"{"session_id":"\#(session.id)"}"#)
        answer.headers["X-Session-Token"] = session.token
        return answer
    }

    private static func session(_ call: Call, _ id: String, _ state: Contents) -> TransportResponse {
        guard let session = state.sessions.first(where: { $0.id.wireText == id && $0.token == call.bearer }) else {
            return .failure(401, "unauthorized")
        }
        guard state.decidesSessions else { return data(#"{"session_id":"\#(id)","state":"processing"}"#) }
        let verdict = session.user == nil ? #""failed","reason":"no_match","retryable":true"# : #""succeeded""#
        return data(#"{"session_id":"\#(id)","state":\#(verdict)}"#)
    }

    private static func redeem(_ call: Call, _ id: String, _ state: inout Contents) -> TransportResponse {
        guard let index = state.sessions.firstIndex(where: { $0.id.wireText == id && $0.token == call.bearer }),
            let user = state.sessions[index].user
        else { return .failure(401, "unauthorized") }
        if let refusal = call.refusal(of: state.sessions[index].deviceKey) { return refusal }
        if state.sessions[index].signIn == nil {
            state.sessions[index].signIn = state.signIns.count
            state.signIns.append(newSignIn(user, state.signIns.count, call.now))
            state.signIns[state.signIns.count - 1].deviceKey = call.deviceKey
        }
        return bare(state.signIns[state.sessions[index].signIn ?? 0])
    }

    private static func refresh(_ call: Call, _ state: inout Contents) -> TransportResponse {
        let token = call.member("refresh_token")
        guard let index = state.signIns.firstIndex(where: { $0.isAlive && ($0.refresh == token || $0.former == token) }) else {
            return .failure(401, "unauthorized")
        }
        let signIn = state.signIns[index]
        if let refusal = call.refusal(of: signIn.deviceKey) { return refusal }
        state.signIns[index].deviceKey = call.deviceKey
        if signIn.former == token {
            if call.now < signIn.renewedAt + 30 { return bare(signIn) }
            end(index, &state)
            return .failure(401, "unauthorized")
        }
        let number = (Int(signIn.refresh.split(separator: "-").last ?? "") ?? 0) + 1
        state.signIns[index].former = signIn.refresh
        (state.signIns[index].access, state.signIns[index].refresh) = ("access-\(index)-\(number)", "refresh-\(index)-\(number)")
        state.signIns[index].renewedAt = call.now
        return bare(state.signIns[index])
    }

    private static func register(_ call: Call, _ user: String, _ state: inout Contents) -> TransportResponse {
        guard let installation = call.member("device_token") else { return .failure(400, "missing_field") }
        let owner = state.installations[installation]
        let isInUse = state.signIns.contains { $0.isAlive && $0.user == owner && $0.installation == installation }
        if let owner, owner != user, isInUse { return data(#"{"handover_id":"\#(UUID())","expires_in":600}"#, 202) }
        state.installations[installation] = user
        if let signIn = call.signIn { state.signIns[signIn].installation = installation }
        return data("{}")
    }

    // MARK: Pictures

    /// For a key, the answer is the same for 24 hours.
    private static func order(_ call: Call, _ user: String, _ state: inout Contents) -> TransportResponse {
        if let job = state.jobs.first(where: { $0.key == call.key && $0.user == user }) { return data(text(job), 202) }
        guard call.field("template_id") != nil else { return .failure(400, "missing_field") }
        let job = Job(id: "job-\(state.jobs.count)", user: user, key: call.key)
        state.jobs.append(job)
        return data(text(job), 202)
    }

    private static func job(_ id: String, _ user: String, _ state: inout Contents) -> TransportResponse {
        guard let index = state.jobs.firstIndex(where: { $0.id == id && $0.user == user }) else { return .failure(404, "job_not_found") }
        if state.completesJobs { state.jobs[index].status = "completed" }
        return data(text(state.jobs[index]))
    }

    private static func text(_ job: Job) -> String {
        let result = #","result":{"image_url":"https://cdn.example.org/\#(job.id)","metadata":{"templateName":"Oil Painting"}}"#
        return #"{"job_id":"\#(job.id)","status":"\#(job.status)"\#(job.status == "completed" ? result : "")}"#
    }

    // MARK: Answers

    static let timestamp = "2027-01-15T08:00:00Z"

    private static func data(_ json: String, _ status: Int = 200) -> TransportResponse {
        let text = #"{"success":true,"data":\#(json),"meta":{"requestId":"r","timestamp":"\#(timestamp)"}}"#
        return TransportResponse(status: status, body: Data(text.utf8))
    }

    private static func bare(_ signIn: SignIn) -> TransportResponse {
        TransportResponse(status: 200, body: (try? JSONEncoder().encode(tokens(signIn))) ?? Data())
    }
}
