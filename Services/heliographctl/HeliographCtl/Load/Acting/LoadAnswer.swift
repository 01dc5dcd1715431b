internal import Foundation

/// What the load reads of the API's answers, all in one: each has some of it.
struct LoadAnswer: Decodable {
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
    // The answers that give tokens have no envelope, as OAuth wants it.
    var accessToken: String?
    var refreshToken: String?
    var expiresIn: Int?
    var userId: String?

    /// Reads an answer; one that cannot be read says nothing.
    init(parsing bytes: [UInt8]) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        if let answer = try? decoder.decode(LoadAnswer.self, from: Data(bytes)) { self = answer }
    }
}

extension LoadAccount.Tokens {
    /// The tokens of an answer; nil when it has none.
    init?(_ answer: LoadAnswer) {
        guard let access = answer.accessToken, let refresh = answer.refreshToken, let userID = answer.userId,
            let lifetime = answer.expiresIn
        else { return nil }
        self.init(access: access, refresh: refresh, expiry: .now + .seconds(lifetime), userID: userID)
    }
}
