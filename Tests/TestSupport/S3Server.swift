import Foundation
import HTTPClient
import Logging

/// The S3 and KMS server of moto, which checks signatures as botocore makes them.
public final class S3Server: Sendable {
    /// The bucket that exists at the start.
    public static let bucket = "heliograph-test"
    /// The region of its signatures.
    public static let region = "eu-central-1"

    /// The port on 127.0.0.1.
    public let port: Int
    /// The access key id of a user with all rights to objects and keys.
    public let accessKeyID: String
    /// See ``accessKeyID``.
    public let secretAccessKey: String
    /// Passing credentials of a role with the same rights, in the form in which ECS, EKS and EC2 answer them.
    public let roleCredentials: String
    private let process: GuardedProcess
    private let folder: TemporaryDirectory

    /// The address without a bucket.
    public var url: String { "http://127.0.0.1:\(port)" }

    /// The one server that the tests of this process share; each test uses keys of its own.
    public static func shared() async throws -> S3Server { try await sharedServer.value }
    private static let sharedServer = Task { try await S3Server.start(checksSignatures: true) }

    /// Starts a server of its own and returns when its bucket exists.
    ///
    /// - Parameter checksSignatures: Whether requests need a valid signature. The server cannot check the signatures of links,
    ///   which work only without this.
    public static func start(checksSignatures: Bool) async throws -> S3Server {
        let modules = try PackageRoot.file(".cache/moto", require: "deploy/local/fetch-moto.sh")
        let (folder, port) = (try TemporaryDirectory(), try FreePort.find())
        let process = try GuardedProcess(
            ["python3", "-m", "moto.server", "-H", "127.0.0.1", "-p", "\(port)"], log: folder.path + "/moto.log",
            environment: ["PYTHONPATH": modules])
        let admin = Admin(url: "http://127.0.0.1:\(port)")
        try await process.waitUntil("moto answers") { (try? await admin.send("PUT", "/\(bucket)")) != nil }
        _ = try await admin.iam([("Action", "CreateUser"), ("UserName", "heliograph")])
        let key = try await admin.iam([("Action", "CreateAccessKey"), ("UserName", "heliograph")])
        let policy = #"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:*","kms:*"],"Resource":"*"}]}"#
        _ = try await admin.iam([
            ("Action", "PutUserPolicy"), ("UserName", "heliograph"), ("PolicyName", "all"), ("PolicyDocument", policy),
        ])
        let role = try await admin.assumeRole(policy: policy)
        if checksSignatures { _ = try await admin.send("POST", "/moto-api/reset-auth", type: "text/plain", body: "0") }
        guard let id = key.firstMatch(of: /<AccessKeyId>(.+?)<\/AccessKeyId>/)?.1,
            let secret = key.firstMatch(of: /<SecretAccessKey>(.+?)<\/SecretAccessKey>/)?.1
        else { throw DeadlineExceeded(description: "moto gives no access key: \(key)") }
        return S3Server(
            port: port, accessKeyID: String(id), secretAccessKey: String(secret), roleCredentials: role, process: process, folder: folder)
    }

    private init(
        port: Int, accessKeyID: String, secretAccessKey: String, roleCredentials: String, process: GuardedProcess,
        folder: TemporaryDirectory
    ) {
        self.port = port
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.roleCredentials = roleCredentials
        self.process = process
        self.folder = folder
    }

    /// A client for the requests before the server checks signatures.
    private struct Admin {
        let url: String
        private let http: HTTPClient

        init(url: String) {
            self.url = url
            var configuration = HTTPClientConfiguration()
            configuration.version = .http1
            configuration.allowedSchemes = ["http"]
            configuration.connectTimeout = .seconds(60)
            configuration.shutdownGrace = .zero
            http = HTTPClient(configuration: configuration, logger: Logger(label: "moto"))
        }

        func send(
            _ method: String, _ path: String, service: String = "s3", type: String = "application/x-www-form-urlencoded",
            body: String = ""
        ) async throws -> String {
            // The header only selects the service; its signature is not checked.
            let authorization = "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/\(service)/aws4_request, SignedHeaders=host, Signature=x"
            let response = try await http.execute(
                HTTPClientRequest(
                    method: method, url: url + path, headers: [("Authorization", authorization), ("Content-Type", type)],
                    body: Array(body.utf8), timeout: .seconds(120)))
            let text = String(decoding: response.body, as: UTF8.self)
            guard response.status == 200 else { throw DeadlineExceeded(description: "moto says \(response.status): \(text)") }
            return text
        }

        func iam(_ form: [(String, String)]) async throws -> String { try await post(form + [("Version", "2010-05-08")], to: "iam") }

        /// Makes a role with a policy, and returns credentials of it.
        func assumeRole(policy: String) async throws -> String {
            let name = "heliograph-role"
            _ = try await iam([("Action", "CreateRole"), ("RoleName", name), ("AssumeRolePolicyDocument", "{}")])
            _ = try await iam([("Action", "PutRolePolicy"), ("RoleName", name), ("PolicyName", "all"), ("PolicyDocument", policy)])
            let answer = try await post(
                [
                    ("Action", "AssumeRole"), ("RoleArn", "arn:aws:iam::123456789012:role/\(name)"), ("RoleSessionName", "test"),
                    ("Version", "2011-06-15"),
                ], to: "sts")
            guard let id = answer.firstMatch(of: /<AccessKeyId>(.+?)<\/AccessKeyId>/)?.1,
                let secret = answer.firstMatch(of: /<SecretAccessKey>(.+?)<\/SecretAccessKey>/)?.1,
                let token = answer.firstMatch(of: /<SessionToken>(.+?)<\/SessionToken>/)?.1
            else { throw DeadlineExceeded(description: "moto gives no credentials of a role: \(answer)") }
            return #"{"Code":"Success","AccessKeyId":"\#(id)","SecretAccessKey":"\#(secret)","Token":"\#(token)"}"#
        }

        private func post(_ form: [(String, String)], to service: String) async throws -> String {
            let pairs = form.map { name, value in
                "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
            }
            return try await send("POST", "/", service: service, body: pairs.joined(separator: "&"))
        }
    }
}
