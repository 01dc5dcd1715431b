internal import Foundation

/// The request for what pictures can be made.
enum TemplateRequests {
    private struct Templates: Decodable {
        let templates: [PictureTemplate]
    }

    /// Needs no bearer, so that an app can show the templates before a sign-in.
    static func list() -> APIRequest<[PictureTemplate]> {
        APIRequest(method: "GET", path: "/v1/templates", bearer: .none) { response in
            let answer: Templates = try WireJSON.content(response)
            return answer.templates
        }
    }
}

/// A picture that can be ordered.
public struct PictureTemplate: Sendable, Equatable, Identifiable, Decodable {
    /// The id that an order names.
    public let id: String
    /// The name for people.
    public let name: String
    /// One sentence for people.
    public let description: String
    /// The address of an example; nil without an example.
    public let preview: String?
}
