import Foundation
import MobileClient
import Synchronization

/// The API and the emulator in memory, as far as phones use them.
final class FakeStack: HTTPTransport {
    struct Job {
        let id: String
        let owner: String
        let token: String?
        var reads = 0
    }

    struct State {
        var tokens = 0
        var jobs: [String: Job] = [:]
        var keys: [String: String] = [:]
        var pushes: [[String: Any]] = []
        /// The push tokens by user.
        var devices: [String: String] = [:]
        var members: [String: Set<String>] = [:]
        var users: [String: String] = [:]
    }

    let state = Mutex(State())

    static let api = URL(string: "http://127.0.0.1:1")!
    static let emulator = URL(string: "http://127.0.0.1:2")!

    func send(_ request: TransportRequest, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        await Task.yield()
        let path = request.url.path
        if request.url.port == 2 { return await control(request, path) }
        return state.withLock { state in
            return Self.answer(request, path, &state)
        }
    }

    func download(_ request: TransportRequest, to file: URL, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        do { try Data([0xFF, 0xD8, 0xFF, 0xE0]).write(to: file) } catch { throw TransportError(.file, "\(error)") }
        return TransportResponse(status: 200)
    }

    func stream(
        _ request: TransportRequest, onLine: @Sendable (String) async -> Bool
    ) async throws(TransportError) -> TransportResponse { TransportResponse(status: 404) }

    // MARK: The emulator

    private func control(_ request: TransportRequest, _ path: String) async -> TransportResponse {
        if path.hasPrefix("/control/tokens") {
            let number = state.withLock { state in
                state.tokens += 1
                return state.tokens
            }
            return Self.json(["token": "token-\(number)"])
        }
        if path == "/control/firebase/tokens", case .data(let body) = request.body {
            let subject = ((try? JSONSerialization.jsonObject(with: body)) as? [String: Any])?["subject"] as? String
            return Self.json(["id_token": subject ?? ""])
        }
        let query = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let after = query.first { $0.name == "after" }?.value.flatMap { Int($0) } ?? 0
        if after != .max { try? await Task.sleep(for: .milliseconds(20)) }
        return state.withLock { state in
            Self.json(["messages": Array(state.pushes.dropFirst(after)), "next": state.pushes.count])
        }
    }

    // MARK: The API

    private static func answer(_ request: TransportRequest, _ path: String, _ state: inout State) -> TransportResponse {
        if path == "/v1/templates" {
            return data(["templates": [["id": "t1", "name": "One", "description": "The first"]]])
        }
        guard let bearer = request.headers["Authorization"]?.split(separator: " ").last.map(String.init) else {
            return TransportResponse(status: 401)
        }
        let user = state.users[bearer] ?? UUID().uuidString.lowercased()
        state.users[bearer] = user
        let method = request.method
        if path == "/v1/users/me", method == "GET" {
            return data([
                "user_id": user, "created_at": "2026-11-26T00:00:00Z", "identity_providers": ["firebase"], "devices": 1, "sessions": 0,
                "topics": 0,
            ])
        }
        if path == "/v1/users/device-token", method == "POST", case .data(let body) = request.body {
            state.devices[user] = ((try? JSONSerialization.jsonObject(with: body)) as? [String: Any])?["device_token"] as? String
            return data([:])
        }
        if path == "/api/v1/auth/logout" {
            state.devices[user] = nil
            return data([:])
        }
        if path == "/v1/notifications/receipts" { return data(["received": 1, "counted": 1]) }
        if path.hasPrefix("/v1/images/") { return images(request, path, user, &state) }
        if path.hasPrefix("/v1/topics/") { return topics(request, path, user, &state) }
        return data([:])
    }

    private static func images(_ request: TransportRequest, _ path: String, _ user: String, _ state: inout State) -> TransportResponse {
        if path == "/v1/images/process" {
            let key = request.headers["X-Request-ID"] ?? request.headers["Idempotency-Key"] ?? UUID().uuidString
            let id = state.keys[key] ?? "job-\(state.jobs.count + 1)"
            state.keys[key] = id
            if state.jobs[id] == nil { state.jobs[id] = Job(id: id, owner: user, token: state.devices[user]) }
            return data(["job_id": id, "status": "pending"], status: 202)
        }
        let id = request.url.lastPathComponent
        guard var job = state.jobs[id], job.owner == user else { return TransportResponse(status: 404) }
        job.reads += 1
        state.jobs[id] = job
        guard job.reads > 1 else {
            push(["kind": "job_completed", "type": "job_completed", "jobId": id], to: job.token, &state)
            return data(["job_id": id, "status": "processing"])
        }
        return data(["job_id": id, "status": "completed", "result": ["image_url": "http://127.0.0.1:1/picture"]])
    }

    private static func topics(_ request: TransportRequest, _ path: String, _ user: String, _ state: inout State) -> TransportResponse {
        let parts = path.split(separator: "/").map(String.init)
        let topic = parts[2]
        if request.method == "PUT" {
            state.members[topic, default: []].insert(parts[4] == "me" ? user : parts[4])
            return data([:])
        }
        guard state.members[topic]?.contains(user) == true else {
            return json(["success": false, "error": ["code": "topic_not_found"]], status: 404)
        }
        switch parts.last {
        case "messages":
            for member in state.members[topic] ?? [] where member != user {
                push(
                    ["kind": "chat_message", "conversationId": String(topic.split(separator: ":")[1]), "senderId": user],
                    to: state.devices[member], &state)
            }
            return data(["message_id": "m", "conversation_id": "c", "created_at": "2026-11-26T00:00:00Z"], status: 202)
        case "read": return data(["unread": 0, "badge": 0])
        case "photos": return data(["photo_id": UUID().uuidString.lowercased()])
        default: return data([:])
        }
    }

    private static func push(_ data: [String: String], to token: String?, _ state: inout State) {
        guard let token else { return }
        state.pushes.append([
            "name": "projects/p/messages/\(1_800_000_000_000_000 + state.pushes.count)", "received_at": "2026-11-26T00:00:00.000Z",
            "message": [
                "token": token, "data": data, "notification": ["title": "Title", "body": "Body"],
                "apns": ["payload": ["aps": ["badge": 1, "sound": "default"]]],
            ] as [String: Any],
        ])
    }

    private static func data(_ data: [String: Any], status: Int = 200) -> TransportResponse {
        json(["success": true, "data": data], status: status)
    }

    private static func json(_ object: [String: Any], status: Int = 200) -> TransportResponse {
        TransportResponse(
            status: status, headers: ["Content-Type": "application/json"],
            body: (try? JSONSerialization.data(withJSONObject: object)) ?? Data())
    }
}
