// Sequelize: findOrCreate, which makes and calls a function of the temporary schema, sync and introspection.
const assert = require("node:assert");
const { Sequelize, DataTypes, Op } = require("sequelize");

async function main() {
    const { PGHOST, PGPORT, PGDATABASE, PGUSER } = process.env;
    const sequelize = new Sequelize(PGDATABASE, PGUSER, "", { host: PGHOST, port: PGPORT, dialect: "postgres", logging: false });
    const User = sequelize.define("user", {
        name: { type: DataTypes.STRING, allowNull: false, unique: true },
        mood: DataTypes.ENUM("sad", "ok"),
        tags: DataTypes.ARRAY(DataTypes.TEXT),
        more: DataTypes.JSONB,
        key: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4 },
    });
    const Task = sequelize.define("task", { title: DataTypes.TEXT });
    User.hasMany(Task);
    Task.belongsTo(User);
    await sequelize.sync({ force: true });
    await sequelize.sync({ alter: true });

    const [ada, made] = await User.findOrCreate({ where: { name: "ada" }, defaults: { mood: "ok", tags: ["a"], more: { x: 1 } } });
    assert.strictEqual(made, true);
    const [again, madeAgain] = await User.findOrCreate({ where: { name: "ada" } });
    assert.strictEqual(madeAgain, false);
    assert.strictEqual(again.id, ada.id);
    await Task.bulkCreate([{ title: "one", userId: ada.id }, { title: "two", userId: ada.id }]);
    await User.upsert({ name: "ada", mood: "sad" });
    const found = await User.findOne({ where: { more: { x: 1 } }, include: Task });
    assert.strictEqual(found.tasks.length, 2);
    assert.strictEqual(found.mood, "sad");
    assert.strictEqual(await Task.count({ where: { title: { [Op.iLike]: "O%" } } }), 1);
    await sequelize.transaction(async (transaction) => {
        await User.findOrCreate({ where: { name: "bob" }, transaction });
        await Task.update({ title: "three" }, { where: { title: "two" }, transaction });
    });
    assert.strictEqual(await User.count(), 2);

    const tables = await sequelize.getQueryInterface().showAllTables();
    assert.deepStrictEqual(tables.map((table) => table.tableName ?? table).sort(), ["tasks", "users"]);
    const columns = await sequelize.getQueryInterface().describeTable("users");
    assert.strictEqual(columns.name.type, "CHARACTER VARYING(255)");
    assert.deepStrictEqual(columns.mood.special, ["sad", "ok"]);
    const indexes = await sequelize.getQueryInterface().showIndex("users");
    assert.ok(indexes.some((index) => index.unique && !index.primary));
    await sequelize.close();
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
