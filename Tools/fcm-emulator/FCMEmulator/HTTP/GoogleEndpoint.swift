import NIOHPACK

/// One of Google's two endpoints, which are answered at once; all other requests go to the router.
enum GoogleEndpoint: Equatable {
    case send(project: String)
    case token

    /// The endpoint of a request; nil for another request.
    init?(_ head: HPACKHeaders) {
        guard head.first(name: ":method") == "POST", let path = head.first(name: ":path") else { return nil }
        if path == "/token" {
            self = .token
        } else if let project = Self.project(ofSend: path) {
            self = .send(project: project)
        } else {
            return nil
        }
    }

    /// Returns the project of `/v1/projects/{project}/messages:send`; nil for another path.
    private static func project(ofSend path: String) -> String? {
        let (path, start, end) = (path.utf8, "/v1/projects/".utf8, "/messages:send".utf8)
        guard path.count > start.count + end.count, path.starts(with: start), path.suffix(end.count).elementsEqual(end) else {
            return nil
        }
        let project = Substring(path.dropFirst(start.count).dropLast(end.count))
        return project.utf8.contains(UInt8(ascii: "/")) ? nil : PercentCoding.decode(project)
    }

    /// Handles a request; never waits.
    func handle(_ body: [UInt8], authorization: String?, line: RequestLog.Line, core: EmulatorCore) -> RequestOutcome {
        guard body.count <= core.configuration.limits.bodyBytes else { return SendDesk(core: core).tooLarge(line: line) }
        switch self {
        case .send(let project):
            return SendDesk(core: core).handle(body, project: project, authorization: authorization, line: line)
        case .token: return TokenDesk(core: core).handle(body, line: line)
        }
    }
}
