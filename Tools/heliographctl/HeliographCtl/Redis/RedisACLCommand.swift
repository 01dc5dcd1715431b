internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus
internal import Foundation
internal import HeliographCrypto
internal import Schema
internal import ServiceDefaults

/// Writes or applies the users of the services in Redis.
struct RedisACLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "acl",
        abstract: "Print the ACL file of Redis, or set the users on the server.",
        discussion: """
            Each service has a user, such as heliograph-notifier, who reads and settles its own streams and appends to all. The \
            passwords come from SERVICE_REDIS_PASSWORDS, or the file SERVICE_REDIS_PASSWORDS_FILE, with a line identity-api=… for each \
            service; the output has their SHA-256 only.

            Without --apply it prints an ACL file (`redis-server --aclfile`), in which the user default of operators has the password \
            REDIS_OPERATOR_PASSWORD. With --apply it sends ACL SETUSER for the services; a server without an ACL file forgets them when \
            it restarts.
            """
    )

    @OptionGroup var redis: RedisOptions

    @Flag(name: .long, help: "Set the users on the server.")
    var apply = false

    @Option(name: .long, help: ArgumentHelp("Write the ACL file there instead of printing it.", valueName: "path"))
    var out: String?

    @Option(name: .long, help: ArgumentHelp("The beginning of the users' names.", valueName: "prefix"))
    var userPrefix = RedisServiceUser.defaultNamePrefix

    mutating func validate() throws {
        guard !apply || out == nil else { throw ValidationError("--apply writes no file: leave --out out.") }
        guard RedisServiceUser.isValid(prefix: userPrefix) else {
            throw ValidationError("--user-prefix is up to 64 letters, digits and any of :_.-/")
        }
    }

    func run() async throws {
        let users = try users(keyPrefix: redis.keyPrefix())
        if apply {
            try await redis.withTransport { transport in
                for (user, hash) in users { try await transport.setUser(user, passwordHash: hash) }
            }
            Console.current.note("Set the users of \(users.count) services.")
            return
        }
        let operators = try reporting(hint: "--apply") {
            try Settings().string("REDIS_OPERATOR_PASSWORD", "the password of the user default, whom operators are")
        }
        let lines = [Self.hash(operators).operatorLine] + users.map { user, hash in user.line(passwordHash: hash) }
        guard let out else {
            for line in lines { Console.current.result(PrintableText(line)) }
            return
        }
        // Redis has a user of its own; the file has hashes of random passwords only.
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: out), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: out)
    }

    private func users(keyPrefix: String) throws -> [(RedisServiceUser, RedisPasswordHash)] {
        try reporting {
            guard RedisServiceUser.isValid(prefix: keyPrefix) else {
                throw ConfigurationError(
                    "REDIS_KEY_PREFIX", "does not fit into ACL rules", expectation: "up to 64 letters, digits and any of :_.-/")
            }
            let name = "SERVICE_REDIS_PASSWORDS"
            let passwords = ServicePasswords(parsing: try Settings().string(name, ServicePasswords.expectation))
            return try ServiceRole.allCases.map { role in
                guard let password = passwords?[role] else {
                    throw ConfigurationError(
                        name, "is not valid or lacks \(role.rawValue)", expectation: ServicePasswords.expectation)
                }
                return (RedisServiceUser(service: role.rawValue, keyPrefix: keyPrefix, namePrefix: userPrefix), Self.hash(password))
            }
        }
    }

    private static func hash(_ password: String) -> RedisPasswordHash { RedisPasswordHash(sha256: Hex.encode(SHA256.hash(password))) }
}
