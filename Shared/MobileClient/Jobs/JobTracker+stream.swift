internal import Foundation

/// The progress of a job as server-sent events.
extension JobTracker {
    private struct Event: Decodable {
        var status: String
        var position: Int?
        var percent: Int?

        enum Keys: String, CodingKey {
            case status, percent
            case position = "queue_position"
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Keys.self)
            status = try members.decode(String.self, forKey: .status)
            position = try? members.decode(Int.self, forKey: .position)
            percent = try? members.decode(Int.self, forKey: .percent)
        }
    }

    func openStream(of id: UUID) -> [JobReducer.Event] {
        guard streaming.count < options.maxStreams, let jobID = entries[id]?.jobID else { return [.streamEnded] }
        streaming.insert(id)
        entries[id]?.stream = Task { [weak self, sender] in
            // However it ends, polls take over from a stream that told no end.
            try? await sender.events(JobsRequests.events(jobID)) { [weak self] _, data in
                guard !Task.isCancelled, let self else { return false }
                guard let event = Self.event(data) else { return true }
                await self.send(event, to: id)
                guard case .streamed(_, _, _, hasEnded: false) = event else { return false }
                return true
            }
            guard !Task.isCancelled else { return }
            await self?.streamEnded(of: id)
        }
        return []
    }

    private func streamEnded(of id: UUID) async {
        entries[id]?.stream = nil
        streaming.remove(id)
        await send(.streamEnded, to: id)
    }

    private static func event(_ text: String) -> JobReducer.Event? {
        guard let event = try? JSONDecoder().decode(Event.self, from: Data(text.utf8)) else { return nil }
        return .streamed(
            status: event.status.cut(toBytes: 100), queuePosition: event.position, percent: event.percent,
            hasEnded: ["completed", "failed"].contains(event.status))
    }
}
