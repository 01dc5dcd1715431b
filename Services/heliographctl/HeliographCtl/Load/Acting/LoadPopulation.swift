internal import Foundation
internal import Synchronization

/// The accounts that the load has made.
final class LoadPopulation: Sendable {
    /// How many of them are needed, so that none comes near what the API lets one account do.
    struct Size {
        /// Four fifths of what the API lets an account do unless it is configured otherwise: at once, and then a minute.
        private static let signIns = (burst: 80.0, perMinute: 8.0)
        private static let orders = (burst: 160.0, perMinute: 48.0)
        private static let photos = (burst: 160.0, perMinute: 48.0, perDay: 400.0, bytesPerDay: 800.0 * 1_048_576)
        /// How long something may take, in seconds, with enough accounts left for what comes meanwhile.
        private static let usualSeconds = 5.0

        /// Those that sign in.
        let members: Int
        /// Those that are signed in, to order pictures and to add photos.
        let owners: Int

        /// - Parameter minimum: how many somebody asks for of each that is needed.
        init(_ plan: LoadPlan, pictureBytes: Double, minimum: Int) {
            let minutes = (plan.warmUp + plan.duration).seconds / 60
            func needed(_ kind: LoadKind, _ burst: Double, _ perMinute: Double, atOnce: Int) -> Double {
                max(
                    plan.expected(kind) / (burst + perMinute * minutes),
                    plan.perSecond * plan.mix.share(of: kind) * Self.usualSeconds / Double(atOnce))
            }
            func count(_ needs: Double...) -> Int {
                let need = needs.max() ?? 0
                return need > 0 ? max(Int(need.rounded(.up)), minimum) : 0
            }
            let photos = plan.expected(.upload)
            members = count(needed(.signIn, Self.signIns.burst, Self.signIns.perMinute, atOnce: LoadPopulation.signInsAtOnce))
            owners = count(
                needed(.image, Self.orders.burst, Self.orders.perMinute, atOnce: LoadPopulation.ordersAtOnce),
                needed(.upload, Self.photos.burst, Self.photos.perMinute, atOnce: LoadPopulation.ordersAtOnce),
                photos / Self.photos.perDay, photos * pictureBytes / Self.photos.bytesPerDay)
        }
    }

    /// The API locks an account with five sign-ins that have failed or are not decided.
    static let signInsAtOnce = 4
    /// The API lets an account have 20 jobs that have not ended.
    static let ordersAtOnce = 16

    let members: LoadAccounts
    let owners: LoadAccounts
    private let name: String
    private let count: Mutex<Int>

    /// - Parameters:
    ///   - name: What the e-mail addresses of all accounts begin with.
    ///   - count: How many addresses were given away under that name.
    init(name: String, count: Int, members: [LoadAccount], owners: [LoadAccount]) {
        self.name = name
        self.count = Mutex(count)
        self.members = LoadAccounts(members, lentMax: Self.signInsAtOnce)
        self.owners = LoadAccounts(owners, lentMax: Self.ordersAtOnce)
    }

    /// How many accounts there may be by now.
    var size: Int { count.withLock { $0 } }

    /// An address that nobody has yet.
    func newEmail() -> String {
        Self.email(name, count.withLock { count in
            count += 1
            return count
        })
    }

    /// Of a domain that is nobody's (RFC 2606).
    static func email(_ name: String, _ number: Int) -> String { "\(name)-\(number)@example.org" }
}
