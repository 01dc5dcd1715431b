import HTTPTypes
import Hummingbird

/// What a machine of Google's cloud is told about its service account, by `metadata.google.internal`.
struct MetadataRoutes: Sendable {
    private static let flavor = HTTPField.Name("Metadata-Flavor")!
    let core: EmulatorCore

    func add(to router: Router<EmulatorContext>) {
        router.get("/computeMetadata/v1/instance/service-accounts/default/token") { request, _ in
            answer(request) { Reply(core.issueAccessToken(now: core.clock.now)) }
        }
        router.get("/computeMetadata/v1/instance/service-accounts/default/email") { request, _ in
            answer(request) { text(core.verifier?.account.clientEmail ?? "") }
        }
        router.get("/computeMetadata/v1/project/project-id") { request, _ in
            answer(request) { text(core.projectNames[0]) }
        }
    }

    /// Only who says the word is answered: it keeps a browser from being made to ask.
    private func answer(_ request: Request, _ reply: () -> Reply) -> Response {
        let isAllowed = request.headers[Self.flavor] == "Google" && core.verifier != nil
        var response = (isAllowed ? reply() : Reply.page(status: 403)).response
        response.headers[Self.flavor] = "Google"
        return response
    }

    private func text(_ text: String) -> Reply {
        var reply = Reply(nil)
        reply.contentType = "application/text"
        reply.body.clear()
        reply.body.writeString(text)
        return reply
    }
}
