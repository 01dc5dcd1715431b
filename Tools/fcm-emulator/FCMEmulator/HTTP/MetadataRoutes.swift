import HTTPTypes
import Hummingbird
import NIOCore

/// The metadata server `metadata.google.internal`, by which a machine of Google's cloud learns its service account.
struct MetadataRoutes: Sendable {
    private static let flavor = HTTPField.Name("Metadata-Flavor")!
    let core: EmulatorCore

    func add(to router: Router<EmulatorContext>) {
        router.get("/computeMetadata/v1/instance/service-accounts/default/token") { request, _ in
            answer(request) { EmulatorAnswer.json(core.issueAccessToken(now: core.clock.now)) }
        }
        router.get("/computeMetadata/v1/instance/service-accounts/default/email") { request, _ in
            answer(request) { text(core.verifier?.account.clientEmail ?? "") }
        }
        router.get("/computeMetadata/v1/project/project-id") { request, _ in
            answer(request) { text(core.projectNames[0]) }
        }
    }

    /// Answers only requests with the header `Metadata-Flavor: Google`, so that a page cannot make a browser ask; 403 otherwise,
    /// and until the service account is loaded.
    private func answer(_ request: Request, _ response: () -> Response) -> Response {
        let isAllowed = request.headers[Self.flavor] == "Google" && core.verifier != nil
        var response = isAllowed ? response() : EmulatorAnswer.html(status: 403)
        response.headers[Self.flavor] = "Google"
        return response
    }

    private func text(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/text"], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
