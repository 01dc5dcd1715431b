internal import CommandLineSupport
internal import Synchronization

/// The accounts that the load has created.
final class LoadPopulation: Sendable {
    /// The number of accounts that keeps each one below the API's limits for one account.
    struct Size {
        /// Four fifths of the API's default limits for one account: burst, and then per minute.
        private static let signIns = (burst: 80.0, perMinute: 8.0)
        private static let orders = (burst: 160.0, perMinute: 48.0)
        private static let photos = (burst: 160.0, perMinute: 48.0, perDay: 400.0, bytesPerDay: 800.0 * 1_048_576)
        /// Seconds that an action may take without later arrivals running out of accounts.
        private static let expectedActionSeconds = 5.0

        /// Accounts that sign in.
        let members: Int
        /// Accounts that stay signed in, to order pictures and to add photos.
        let owners: Int

        /// - Parameter minimum: the minimum number of accounts of each sort that is needed.
        init(_ plan: LoadPlan, pictureBytes: Double, minimum: Int) {
            let minutes = (plan.warmUp + plan.duration).seconds / 60
            func needed(_ kind: LoadKind, _ burst: Double, _ perMinute: Double, maxLeases: Int) -> Double {
                max(
                    plan.expected(kind) / (burst + perMinute * minutes),
                    plan.perSecond * plan.mix.share(of: kind) * Self.expectedActionSeconds / Double(maxLeases))
            }
            func count(_ needs: Double...) -> Int {
                let need = needs.max() ?? 0
                return need > 0 ? max(Int(need.rounded(.up)), minimum) : 0
            }
            let photos = plan.expected(.upload)
            members = count(needed(.signIn, Self.signIns.burst, Self.signIns.perMinute, maxLeases: LoadPopulation.maxSignInsPerAccount))
            owners = count(
                needed(.image, Self.orders.burst, Self.orders.perMinute, maxLeases: LoadPopulation.maxOrdersPerAccount),
                needed(.upload, Self.photos.burst, Self.photos.perMinute, maxLeases: LoadPopulation.maxOrdersPerAccount),
                photos / Self.photos.perDay, photos * pictureBytes / Self.photos.bytesPerDay)
        }
    }

    /// Concurrent sign-ins of one account; the API locks an account with five failed or undecided ones.
    static let maxSignInsPerAccount = 4
    /// Concurrent orders of one account; the API admits 20 unfinished jobs.
    static let maxOrdersPerAccount = 16

    let members: LoadAccounts
    let owners: LoadAccounts
    private let name: String
    private let count: Mutex<Int>

    /// - Parameters:
    ///   - name: Prefix of the e-mail addresses of all accounts.
    ///   - count: Number of addresses assigned so far under that prefix.
    init(name: String, count: Int, members: [LoadAccount], owners: [LoadAccount]) {
        self.name = name
        self.count = Mutex(count)
        self.members = LoadAccounts(members, maxLeases: Self.maxSignInsPerAccount)
        self.owners = LoadAccounts(owners, maxLeases: Self.maxOrdersPerAccount)
    }

    /// The number of addresses assigned, and so of accounts that may exist.
    var size: Int { count.withLock { $0 } }

    /// Assigns an unused address.
    func newEmail() -> String {
        count.withLock { count in
            count += 1
            return Self.email(name, count)
        }
    }

    /// An address in a reserved domain (RFC 2606).
    static func email(_ name: String, _ number: Int) -> String { "\(name)-\(number)@example.org" }
}
