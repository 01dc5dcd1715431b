internal import Foundation

/// The fields that the load reads of the API's responses; each response has some of them.
struct LoadResponse: Decodable {
    struct Content: Decodable {
        var sessionId: String?
        var state: String?
        var reason: String?
        var jobId: String?
        var status: String?
        var error: Problem?
        var userId: String?
        var templates: [Template]?
        var jobs: [Job]?
    }

    struct Problem: Decodable {
        var code: String?
    }

    struct Template: Decodable {
        let id: String
    }

    struct Job: Decodable {
        let jobId: String
    }

    var data: Content?
    var error: Problem?
    // Token responses have no envelope, as OAuth requires.
    var accessToken: String?
    var refreshToken: String?
    var expiresIn: Int?
    var userId: String?

    /// Decodes a response; all fields are nil when it cannot be decoded.
    init(parsing bytes: [UInt8]) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        if let response = try? decoder.decode(LoadResponse.self, from: Data(bytes)) { self = response }
    }
}

extension LoadAccount.Tokens {
    /// The tokens of a response; nil when it has none.
    init?(_ response: LoadResponse) {
        guard let access = response.accessToken, let refresh = response.refreshToken, let userID = response.userId,
            let lifetime = response.expiresIn
        else { return nil }
        self.init(access: access, refresh: refresh, expiry: .now + .seconds(lifetime), userID: userID)
    }
}
